//! What a dispatch needs, checked once, for any backend.
