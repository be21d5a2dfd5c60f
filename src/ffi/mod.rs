//! The C surface: handles, argument checks, panic guard. No logic.
