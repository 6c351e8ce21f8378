//! What holds for all calls of one door: how much an answer may hold and a change may touch, and what text is.

/// What holds for all calls of one door.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// How much one answer may hold and one change may touch.
    pub limits: Limits,
    /// How text arguments meet the text of files.
    pub text: TextRules,
    /// Whether a text in place of a number, a list or an object that it plainly means is taken for one.
    pub mend_slips: bool,
}

/// How text arguments meet the text of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextRules {
    /// To the byte: a byte order mark, a carriage return and NUL are text like any other.
    Exact,
    /// As a model sees text: a byte order mark is hidden and kept, `\n` also matches `\r\n`, UTF-16 is decoded.
    Bridged,
}

/// How much one answer may hold and one change may touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Lines of one `read_file` answer.
    pub read_lines: u64,
    /// Bytes of text of one `read_file` answer.
    pub read_bytes: usize,
    /// Bytes of one image.
    pub image_bytes: u64,
    /// Bytes of one resource.
    pub resource_bytes: u64,
    /// Rows of one listing.
    pub list_entries: usize,
    /// Paths that `find_files` shows, and files that `search_files` names, if the call does not say how many.
    pub found_paths: usize,
    /// Matching lines that `search_files` shows if the call does not say how many.
    pub found_lines: usize,
    /// Bytes of text of one answer of `find_files` or `search_files`.
    pub found_bytes: usize,
    /// Bytes of a line that `search_files` shows of a longer one.
    pub found_line_bytes: usize,
    /// Bytes of a file that can be patched or overwritten.
    pub edit_bytes: u64,
    /// Bytes that one deletion takes.
    pub delete_bytes: u64,
    /// Files, links and folders that one deletion takes.
    pub delete_entries: usize,
}

impl Settings {
    /// For a model behind MCP: answers that fit a context window.
    #[must_use]
    pub const fn served() -> Self {
        Settings {
            limits: Limits {
                read_lines: 2_000,
                read_bytes: 256 * 1024,
                image_bytes: 8 * 1024 * 1024,
                resource_bytes: 8 * 1024 * 1024,
                list_entries: 10_000,
                found_paths: 500,
                found_lines: 200,
                found_bytes: 64 * 1024,
                found_line_bytes: 400,
                edit_bytes: 512 * 1024 * 1024,
                delete_bytes: 512 * 1024 * 1024,
                delete_entries: 100_000,
            },
            text: TextRules::Bridged,
            mend_slips: true,
        }
    }

    /// For the one-shot protocol: everything, to the byte.
    #[must_use]
    pub const fn exact() -> Self {
        Settings {
            limits: Limits {
                read_lines: u64::MAX,
                read_bytes: usize::MAX,
                image_bytes: u64::MAX,
                resource_bytes: u64::MAX,
                list_entries: usize::MAX,
                found_paths: usize::MAX,
                found_lines: usize::MAX,
                found_bytes: usize::MAX,
                found_line_bytes: usize::MAX,
                edit_bytes: u64::MAX,
                delete_bytes: u64::MAX,
                delete_entries: usize::MAX,
            },
            text: TextRules::Exact,
            mend_slips: false,
        }
    }
}
