//! How long the device worked on each dispatch of a batch: an event before and one after.

use smallvec::SmallVec;

use super::context::Entered;
use super::device::Device;
use super::stream::{EventHandle, Pooled, StreamHandle};
use crate::error::Result;

#[derive(Default)]
pub struct Timer<'t> {
    marks: SmallVec<[Mark<'t>; 1]>,
}

struct Mark<'t> {
    before: Pooled<'t, EventHandle>,
    after: Option<Pooled<'t, EventHandle>>,
}

impl<'t> Timer<'t> {
    pub fn start(
        &mut self,
        device: &'t Device,
        entered: &'t Entered<'t>,
        stream: StreamHandle,
    ) -> Result<()> {
        let before = record(device, entered, stream)?;
        self.marks.push(Mark {
            before,
            after: None,
        });
        Ok(())
    }

    /// Ends what was started last.
    pub fn stop(
        &mut self,
        device: &'t Device,
        entered: &'t Entered<'t>,
        stream: StreamHandle,
    ) -> Result<()> {
        let after = record(device, entered, stream)?;
        if let Some(mark) = self.marks.last_mut() {
            mark.after = Some(after);
        }
        Ok(())
    }

    pub fn is_used(&self) -> bool {
        !self.marks.is_empty()
    }

    /// Nanoseconds between the events of the dispatch with this index; the stream's work is over.
    pub fn elapsed(&self, entered: &Entered<'_>, index: usize) -> Result<u64> {
        let Some(Mark {
            before,
            after: Some(after),
        }) = self.marks.get(index)
        else {
            return Ok(0);
        };
        let mut milliseconds = 0.0;
        // SAFETY: the place is valid for a write; both events were recorded on a stream that has since ended its work.
        let code = unsafe {
            (entered.api().event_elapsed_time)(&mut milliseconds, before.raw(), after.raw())
        };
        entered.check(code, "cuEventElapsedTime")?;
        Ok((f64::from(milliseconds) * 1e6) as u64)
    }
}

fn record<'t>(
    device: &'t Device,
    entered: &'t Entered<'t>,
    stream: StreamHandle,
) -> Result<Pooled<'t, EventHandle>> {
    let event = device.events.take(entered)?;
    // SAFETY: event and stream are alive and of the current context.
    let code = unsafe { (entered.api().event_record)(event.raw(), stream.raw()) };
    entered.check(code, "cuEventRecord")?;
    Ok(event)
}
