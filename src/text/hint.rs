//! Why a text was not found: the nearest place, and what differs there.
