//! The pre-execute and post-execute waterfalls: rules, then hooks, the strictest word stands.
