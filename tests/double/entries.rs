//! The entry points that faults are tried under, and what must hold afterwards.

use std::sync::Arc;

use vyre::backend::{Backend, Buffer, Program};
use vyre::error::{Error, Result, Status};

use crate::double::{acquire, programs};
use crate::harness;

/// Bytes of a copy that goes through chunks of page-locked memory.
const LONG: usize = 17 << 20;
const WORKGROUPS: u32 = 5;

/// How much is there before an entry point is called.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ready {
    Nothing,
    Acquired,
    Loaded,
    /// Everything has been used once.
    Warm,
}

#[derive(Clone, Copy)]
pub struct Entry {
    pub name: &'static str,
    pub ready: Ready,
    pub run: fn(&mut Scene) -> Result<()>,
}

/// What a caller holds.
#[derive(Default)]
pub struct Scene {
    backend: Option<Arc<dyn Backend>>,
    program: Option<Arc<dyn Program>>,
    module: Option<Arc<dyn Program>>,
    /// Bytes that no entry point is told of.
    bystander: Option<Arc<dyn Buffer>>,
    buffers: Vec<Arc<dyn Buffer>>,
}

const fn entry(name: &'static str, ready: Ready, run: fn(&mut Scene) -> Result<()>) -> Entry {
    Entry { name, ready, run }
}

pub const ENTRIES: [Entry; 23] = [
    entry("acquire", Ready::Nothing, |scene| {
        scene.backend = Some(acquire()?);
        Ok(())
    }),
    entry("load WGSL", Ready::Acquired, |scene| {
        scene.program = Some(programs::load(scene.backend())?);
        Ok(())
    }),
    entry("load PTX", Ready::Acquired, |scene| {
        scene.module = Some(programs::load_module(scene.backend())?);
        Ok(())
    }),
    entry("warm up", Ready::Loaded, |scene| {
        let bound = [Arc::clone(&scene.buffers[0]), Arc::clone(&scene.buffers[1])];
        let asked = harness::dispatch([WORKGROUPS, 1, 1], &bound);
        scene.program().warm_up(&asked)
    }),
    entry("create a buffer", Ready::Acquired, |scene| {
        scene
            .buffers
            .push(Arc::clone(scene.backend()).create_buffer(4096)?);
        Ok(())
    }),
    entry("import a buffer", Ready::Loaded, |scene| {
        let pointer = scene.buffers[0].native_pointer();
        // SAFETY: the buffer outlives what is imported here.
        unsafe { Arc::clone(scene.backend()).import_buffer(pointer, 16) }.map(drop)
    }),
    entry("write", Ready::Loaded, |scene| {
        scene.buffers[0].write(4, [1u8; 24].as_slice().into())
    }),
    entry("read", Ready::Loaded, |scene| {
        scene.buffers[0].read(4, [0u8; 24].as_mut_slice().into())
    }),
    entry("fill", Ready::Loaded, |scene| {
        scene.buffers[0].fill(4, 24, 0x0102_0304)
    }),
    entry("copy", Ready::Loaded, |scene| {
        let source = Arc::clone(&scene.buffers[1]);
        scene.buffers[0].copy_from(4, &*source, 0, 4)
    }),
    entry("copy within a buffer", Ready::Loaded, |scene| {
        let source = Arc::clone(&scene.buffers[0]);
        scene.buffers[0].copy_from(4, &*source, 0, 24)
    }),
    entry("write 17 MiB", Ready::Acquired, |scene| {
        let buffer = Arc::clone(scene.backend()).create_buffer(LONG as u64)?;
        buffer.write(0, vec![7; LONG].as_slice().into())
    }),
    entry("read 17 MiB", Ready::Acquired, |scene| {
        let buffer = Arc::clone(scene.backend()).create_buffer(LONG as u64)?;
        let mut bytes = vec![1; LONG];
        buffer.read(0, bytes.as_mut_slice().into())?;
        assert!(bytes.iter().all(|&byte| byte == 0));
        Ok(())
    }),
    entry("first dispatch", Ready::Loaded, |scene| {
        scene.dispatch(|_| ())
    }),
    entry("dispatch", Ready::Warm, |scene| scene.dispatch(|_| ())),
    entry("dispatch, timed", Ready::Warm, |scene| {
        scene.dispatch(|asked| asked.timed = true)
    }),
    entry("dispatch, 130 times", Ready::Warm, |scene| {
        scene.dispatch(|asked| asked.repeat = 130)
    }),
    entry("batch of 3", Ready::Warm, |scene| {
        let bound = [Arc::clone(&scene.buffers[0]), Arc::clone(&scene.buffers[1])];
        let mut batch = [(); 2].map(|()| harness::dispatch([WORKGROUPS, 1, 1], &bound));
        batch[1].times = 2;
        let mut done = 0;
        let result = scene.program().run_batch(&mut batch, &mut |index, report| {
            assert_eq!((index, report.barriers), (done, programs::BARRIERS));
            done += 1;
        });
        match result {
            Ok(()) => assert_eq!(done, 3),
            Err((index, error)) => {
                assert!(done <= index, "{done} were done, and {index} failed");
                return Err(error);
            }
        }
        Ok(())
    }),
    entry("dispatch of lent bytes", Ready::Loaded, |scene| {
        programs::run_lent(scene.program(), WORKGROUPS).map(drop)
    }),
    entry("dispatch of a module", Ready::Loaded, |scene| {
        let module = scene.module.as_ref().expect("it is loaded");
        programs::run_on(module, WORKGROUPS, &scene.buffers, |_| ()).map(drop)
    }),
    entry("allocate host memory", Ready::Acquired, |scene| {
        Arc::clone(scene.backend()).allocate_host(1 << 16).map(drop)
    }),
    entry("trim", Ready::Warm, |scene| scene.backend().trim(true)),
    entry("release", Ready::Warm, |scene| {
        drop(std::mem::take(scene));
        Ok(())
    }),
];

impl Scene {
    pub fn prepared(entry: &Entry) -> Scene {
        let mut scene = Scene::default();
        if entry.ready == Ready::Nothing {
            return scene;
        }
        let backend = acquire().expect("the double is there");
        scene.bystander = Some(harness::buffer(&backend, &[0x600d_600d; 64]));
        scene.backend = Some(backend);
        if entry.ready >= Ready::Loaded {
            let backend = scene.backend();
            let program = programs::load(backend).expect("nothing fails yet");
            let module = programs::load_module(backend).expect("nothing fails yet");
            scene.buffers = programs::buffers(backend, WORKGROUPS).to_vec();
            (scene.program, scene.module) = (Some(program), Some(module));
        }
        if entry.ready >= Ready::Warm {
            let warm = scene.dispatch(|asked| (asked.repeat, asked.timed) = (3, true));
            warm.and_then(|()| programs::run_lent(scene.program(), WORKGROUPS))
                .expect("nothing fails yet");
        }
        scene
    }

    fn backend(&self) -> &Arc<dyn Backend> {
        self.backend.as_ref().expect("it is acquired")
    }

    fn program(&self) -> &Arc<dyn Program> {
        self.program.as_ref().expect("it is loaded")
    }

    fn dispatch(&self, change: impl FnOnce(&mut vyre::backend::Dispatch<'_>)) -> Result<()> {
        programs::run_on(self.program(), WORKGROUPS, &self.buffers, change).map(drop)
    }

    /// The bystander is as it was, and a dispatch is right.
    pub fn assert_works(&self, about: &str) {
        let Some(backend) = &self.backend else {
            return;
        };
        if let Some(bystander) = &self.bystander {
            assert_eq!(harness::words(bystander), [0x600d_600d; 64], "{about}");
        }
        let program = programs::load(backend).unwrap_or_else(|error| panic!("{about}: {error}"));
        for _ in 0..2 {
            programs::run(backend, &program, WORKGROUPS, |_| ())
                .unwrap_or_else(|error| panic!("{about}: {error}"));
        }
        programs::run_lent(&program, WORKGROUPS).unwrap_or_else(|error| panic!("{about}: {error}"));
    }

    /// Every call says that the backend is lost.
    pub fn assert_lost(&self, about: &str) {
        let Some(backend) = &self.backend else {
            return;
        };
        let mut word = [0; 4];
        let mut errors: Vec<Option<Error>> = vec![
            Arc::clone(backend).create_buffer(4).err(),
            Arc::clone(backend).allocate_host(4).err(),
        ];
        if let Some(bystander) = &self.bystander {
            errors.push(bystander.read(0, word.as_mut_slice().into()).err());
        }
        if self.program.is_some() && self.buffers.len() > 1 {
            errors.push(self.dispatch(|_| ()).err());
        }
        for error in errors {
            let status = error.as_ref().map(Error::status);
            assert_eq!(status, Some(Status::DeviceLost), "{about}: {error:?}");
        }
    }
}
