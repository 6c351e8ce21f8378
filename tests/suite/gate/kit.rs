//! A served folder with a configuration and a state folder of its own, and what was recorded there.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::suite::cases::kit::Desk;
use crate::suite::support::{Ended, Server, Temp};

/// A folder to serve, and outside of it what belongs to the user.
pub struct Home {
    home: Temp,
}

impl Home {
    /// A user with this configuration.
    pub fn configured(config: &str) -> Self {
        let home = Temp::with(&[("toolgate.toml", config)]);
        Home { home }
    }

    /// Gives this user another configuration, for the servers that are started from now on.
    pub fn configure(&self, config: &str) {
        self.home.write("toolgate.toml", config);
    }

    /// The options that make a server this user's.
    pub fn options(&self) -> [String; 4] {
        let path = |name: &str| self.home.path().join(name).display().to_string();
        ["--config".to_owned(), path("toolgate.toml"), "--state".to_owned(), path("state")]
    }

    /// A server on `folder`.
    pub fn serve(&self, folder: &Temp, more: &[&str]) -> Server {
        let options = self.options();
        let options: Vec<&str> = options.iter().map(String::as_str).chain(more.iter().copied()).collect();
        Server::start_with(folder.path(), &options)
    }

    /// Serves `folder`.
    pub fn desk(&self, folder: Temp) -> Desk {
        let server = self.serve(&folder, &[]);
        Desk { folder, server }
    }

    /// The state folder of the only workspace.
    pub fn state(&self) -> PathBuf {
        let entries = fs::read_dir(self.home.path().join("state")).expect("a state folder");
        let mut folders = entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir());
        let state = folders.next().expect("a workspace");
        assert_eq!(folders.next(), None);
        state
    }

    /// The text of all session logs.
    pub fn log_text(&self) -> String {
        let sessions = fs::read_dir(self.state().join("sessions")).expect("sessions");
        let logs = sessions.map(|entry| entry.expect("an entry").path());
        let logs = logs.filter(|path| path.extension().is_some_and(|kind| kind == "jsonl"));
        logs.map(|path| fs::read_to_string(path).expect("a log")).collect()
    }

    /// The lines of all session logs.
    pub fn log(&self) -> Vec<Value> {
        self.log_text().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    /// The types of all events, in order, of the call with this number.
    pub fn events(&self, call: u64) -> Vec<String> {
        let log = self.log();
        let of_call = log.iter().filter(|line| line["call"] == call);
        of_call.map(|line| line["type"].as_str().expect("a type").to_owned()).collect()
    }
}

/// A folder with these files, served to a user with this configuration.
pub fn guarded(files: &[(&str, &str)], config: &str) -> (Desk, Home) {
    let home = Home::configured(config);
    (home.desk(Temp::with(files)), home)
}

/// Ends a session; what it has recorded is then on disk.
pub fn end(desk: Desk) -> (Temp, Ended) {
    (desk.folder, desk.server.finish())
}

/// `1\n2\n3\n…`: so many numbered lines.
pub fn lines(count: usize) -> String {
    (1..=count).map(|n| format!("line {n}\n")).collect()
}
