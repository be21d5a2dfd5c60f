//! Streams and events.

use std::ffi::{c_int, c_uint};
use std::sync::Arc;

use crate::entry::{INVALID_HANDLE, SUCCESS, driver, put};
use crate::stream::{EVENTS, Event, STREAMS, Stream};

driver! {
    Context fn cuStreamCreate(place: *mut usize, _flags: c_uint) {
        put(place, STREAMS.add(Arc::new(Stream::default())))
    }

    Release fn cuStreamDestroy_v2(stream: usize) {
        match STREAMS.remove(stream) {
            Some(stream) => {
                stream.close();
                SUCCESS
            }
            None => INVALID_HANDLE,
        }
    }

    Context fn cuStreamSynchronize(stream: usize) {
        STREAMS.get(stream).map_or(INVALID_HANDLE, |stream| stream.synchronise())
    }

    Context fn cuStreamQuery(stream: usize) {
        STREAMS.get(stream).map_or(INVALID_HANDLE, |stream| stream.query())
    }

    Context fn cuStreamWaitEvent(stream: usize, event: usize, _flags: c_uint) {
        let (Some(stream), Some(event)) = (STREAMS.get(stream), EVENTS.get(event)) else {
            return INVALID_HANDLE;
        };
        event.hold(&stream);
        SUCCESS
    }

    Context fn cuEventCreate(place: *mut usize, _flags: c_uint) {
        put(place, EVENTS.add(Arc::new(Event::default())))
    }

    Release fn cuEventDestroy_v2(event: usize) {
        EVENTS.remove(event).map_or(INVALID_HANDLE, |_| SUCCESS)
    }

    Context fn cuEventRecord(event: usize, stream: usize) {
        let (Some(stream), Some(event)) = (STREAMS.get(stream), EVENTS.get(event)) else {
            return INVALID_HANDLE;
        };
        event.record(&stream);
        SUCCESS
    }

    Context fn cuEventQuery(event: usize) {
        EVENTS.get(event).map_or(INVALID_HANDLE, |event| event.query())
    }

    Context fn cuEventSynchronize(event: usize) {
        EVENTS.get(event).map_or(INVALID_HANDLE, |event| event.synchronise())
    }

    Context fn cuEventElapsedTime(place: *mut f32, start: usize, end: usize) {
        let (Some(start), Some(end)) = (EVENTS.get(start), EVENTS.get(end)) else {
            return INVALID_HANDLE;
        };
        match start.elapsed(&end) {
            Ok(milliseconds) => put(place, milliseconds),
            Err(code) => code as c_int,
        }
    }
}
