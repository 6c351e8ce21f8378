// What programs in code mode can call, beside what JavaScript itself has. There is nothing else: no modules, no
// network, no timers.

/** What a program prints; it comes back with the result. */
declare const console: {
  debug: (...values: unknown[]) => void;
  error: (...values: unknown[]) => void;
  info: (...values: unknown[]) => void;
  log: (...values: unknown[]) => void;
  warn: (...values: unknown[]) => void;
};

/** Why a call failed. */
type ErrorCode =
  | "invalid_arguments" | "file_not_found" | "old_str_not_found" | "ambiguous_match" | "outside_workspace"
  | "not_a_file" | "not_a_directory" | "already_exists" | "directory_not_empty" | "permission_denied"
  | "denied" | "read_required" | "stale_version" | "too_large" | "binary_file"
  | "unsupported_encoding" | "no_space" | "timed_out" | "cancelled" | "code_run_failed"
  | "io_error";

/** What the promise of a failed call rejects with. */
declare class ToolCallError extends Error {
  readonly name: "ToolCallError";
  readonly code: ErrorCode;
  /** The tool that was called. */
  readonly tool: string;
  /** For programs: line numbers, sizes, candidates. `message` says the same in words. */
  readonly details: { [key: string]: unknown };
}

/** The tools. A promise of one rejects with a `ToolCallError` when the call fails. */
declare const tools: {
  /** Delete a file, link or folder with all that is in it; what a link leads to stays. undo_change brings it back. */
  delete_path: (args: {
    /** The file, link or folder. */
    path: string;
    /** Needed for a folder that is not empty. */
    recursive?: boolean;
  }) => Promise<{
    /** How many bytes its files had. */
    bytes: number;
    /** How many files, links and folders were in it. */
    entries: number;
    /** `file`, `folder` or `link`. */
    kind: string;
    /** The path, as it was named. */
    path: string;
  }>;
  /** Tell what a file or folder is without reading its content: type, size, lines, encoding, line ends, mode, time of change, version, where a link points. */
  file_info: (args: {
    /** The file or folder. */
    path: string;
  }) => Promise<{
    /** How many entries a folder has. */
    entries?: number;
    /** What a file that is not text is, such as PNG image. */
    format?: string;
    /** The permission bits in octal, such as 0644. */
    mode?: string;
    /** When its content was last changed, such as 2026-11-30T16:55:25Z. */
    modified?: string;
    /** Whether only the start was looked at, since the file is large. */
    partial: boolean;
    /** The file or folder, as it was named. */
    path: string;
    /** Its size in bytes, for a file. */
    size?: number;
    /** What a link points to, as it is written there. */
    target?: string;
    /** What the text is like, for a text file. */
    text?: {
      /** Whether it begins with a byte order mark. */
      bom: boolean;
      /** How its characters stand as bytes. */
      encoding: string;
      /** Whether the last line has a line end, if all of it was read. */
      ends_in_newline?: boolean;
      /** How its lines end: LF, CRLF, mixed or none. */
      line_ends: string;
      /** How many lines it has, if all of it was read. */
      lines?: number;
      /** Whether there are carriage returns that end no line. */
      lone_cr: boolean;
    };
    /** What it is, a link followed. - `link`: A link that is broken or leads outside. */
    type: "file" | "dir" | "other" | "link";
    /** The version of its content, which stands for all of its bytes; only told of a file that is read as a whole. */
    version?: string;
  }>;
  /** Find files by name: one path a line, sorted, node_modules and vendor last. As in ripgrep, ignored (.gitignore, .ignore) and hidden files are left out. Links are shown, not followed. */
  find_files: (args: {
    /** Ignored and hidden files too. */
    include_ignored?: boolean;
    /** Paths to show. Left out: 500. */
    limit?: number;
    /** The folder that pattern is relative to. Left out: all. */
    path?: string;
    /** As in .gitignore: *.rs at any depth, src/**\/*.{ts,tsx}, docs/ for folders, !*.md for all else. */
    pattern: string;
  }) => Promise<{
    /** The first paths. */
    found: Array<{
      /** Where. */
      path: string;
      /** What it is. */
      type: "file" | "dir" | "link" | "other";
    }>;
    /** What was not looked at. */
    left_out: {
      /** Ignored or hidden files and folders; a folder counts as one. */
      ignored: number;
      /** Files and folders whose names are not UTF-8. */
      unnamed: number;
      /** Files and folders that the system does not let this process read. */
      unreadable: number;
      /** The first of these. */
      unreadable_paths?: string[];
      /** Files that a rule keeps from being read. */
      withheld: number;
    };
    /** The folder that was looked in. */
    path: string;
    /** How many there are in all. */
    total: number;
  }>;
  /** Show what is in a folder: one line an entry, `type size path`, sorted by name; type is file, dir, link or other. Use it before guessing a path. Nothing is hidden or ignored; links are not entered. It says if there are more than 10000. */
  list_dir: (args?: {
    /** How many levels to show. Left out: 1. */
    depth?: number;
    /** The folder. Left out: the workspace's own. */
    path?: string;
  }) => Promise<{
    /** Its entries sorted by name, each folder followed by what is in it. */
    entries: Array<{
      /** What is odd about it: a broken link, a name that no call can use, a folder that cannot be read. */
      note?: string;
      /** Its path below the listed folder. */
      path: string;
      /** Its size in bytes, for a file. */
      size?: number;
      /** What a link points to. */
      target?: string;
      /** What it is. */
      type: "file" | "dir" | "link" | "other";
    }>;
    /** Entries that were left out for want of room, in the folders that were looked at. */
    omitted: number;
    /** The folder. */
    path: string;
  }>;
  /** Make a folder and the missing ones above it. One that is there stays as it is. */
  make_dir: (args: {
    /** The folder. */
    path: string;
  }) => Promise<{
    /** Whether it is new. */
    created: boolean;
    /** What is worth knowing. */
    notes?: string[];
    /** The folder, as it was named. */
    path: string;
  }>;
  /** Move or rename a file, link or folder with all that is in it. A folder that is not empty is never replaced. */
  move_path: (args: {
    /** What moves. */
    from: string;
    /** Replace what is there. */
    overwrite?: boolean;
    /** Its whole new path; missing folders are made. */
    to: string;
  }) => Promise<{
    /** Whether anything is different from before. */
    changed: boolean;
    /** Where it was. */
    from: string;
    /** `file`, `folder` or `link`. */
    kind: string;
    /** What is worth knowing of its new name. */
    notes?: string[];
    /** Whether something else was there before. */
    replaced: boolean;
    /** Where it is. */
    to: string;
  }>;
  /** Replace old_str by new_str in a text file: the safe way to change a part of it. Read the file first and copy old_str exactly, without the `N: ` line numbers. It must occur exactly once: take in lines around it until it does, or set replace_all. Both are literal, and nothing is matched approximately: an error shows the nearest place and what differs. A \n also matches the file's \r\n, and new lines end like those they replace. */
  patch_file: (args: {
    /** Change nothing, answer with the diff. */
    dry_run?: boolean;
    /** Only if the file is still at this version. */
    expected_version?: string;
    /** What to put there. Empty: old_str is deleted. */
    new_str: string;
    /** The text to replace. */
    old_str: string;
    /** The file, such as src/main.rs. */
    path: string;
    /** Replace every occurrence. */
    replace_all?: boolean;
  }) => Promise<{
    /** What would change, for a dry run. */
    diff?: string;
    /** The lines on which they began, before the patch; at most the first 1,000. */
    lines: number[];
    /** The file, as it was named. */
    path: string;
    /** How many places were replaced. */
    replaced: number;
    /** The version of the file after the patch. */
    version: string;
  }>;
  /** Make several patches, in one or many files, all or none: each as patch_file would; if one does not fit nothing is changed and the error names it. For changes that belong together. Undone as one. */
  patch_files: (args: {
    /** Change nothing, answer with the diff. */
    dry_run?: boolean;
    /** In order: one on the same file as an earlier one is made on what that leaves. */
    patches: { new_str: string; old_str: string; path: string; replace_all?: boolean }[];
  }) => Promise<{
    /** What would change, for a dry run. */
    diff?: string;
    /** Each file that changes, in the order in which the patches first name it. */
    files: Array<{
      /** The file, as it was first named. */
      path: string;
      /** How many places were replaced, by all patches together. */
      replaced: number;
      /** Its version after the patches. */
      version: string;
    }>;
  }>;
  /** Read a text file, or look at an image. USE THIS BEFORE CHANGING A FILE. Every line comes as `N: text`; never put the `N: ` into old_str or content. An answer holds up to 2000 lines or 256 KiB and says with which start_line to go on. */
  read_file: (args: {
    /** Last line to read, included. */
    end_line?: number;
    /** Bytes of start_line to skip, if it was cut. */
    line_offset?: number;
    /** The file, such as src/main.rs. */
    path: string;
    /** First line to read, counted from 1. */
    start_line?: number;
  }) => Promise<{
    /** The text as it is in the file, without line numbers. */
    content: string;
    /** The number of the last line in `content`; one less than `start_line` if there is none. */
    end_line: number;
    /** What the image is, if the file is one; it is shown beside this. */
    image?: {
      /** Such as image/png. */
      mime_type: string;
      /** Its size in bytes. */
      size: number;
    };
    /** Where to go on, if this is not all that was asked for. */
    next?: {
      /** The next `line_offset`. */
      line_offset: number;
      /** The next `start_line`. */
      start_line: number;
    };
    /** The file. */
    path: string;
    /** The number of the first line in `content`. */
    start_line: number;
    /** How many lines the file has, where that is known. */
    total_lines?: number;
    /** The version of the file, if all of it was read. */
    version?: string;
  }>;
  /** Search the text of files: each file with a match, then its lines as `N: text`, context as `N- text`. USE THIS to find where something is, instead of reading file after file. As in ripgrep, binary, ignored (.gitignore, .ignore) and hidden files are left out and links are not followed; it says so. */
  search_files: (args: {
    /** Lines around each match. */
    context_lines?: number;
    /** Only these files, as in .gitignore: *.{ts,tsx}, src/**, !tests/. */
    glob?: string;
    /** Case does not count. */
    ignore_case?: boolean;
    /** Ignored and hidden files too. */
    include_ignored?: boolean;
    /** Left out: 200 lines or 500 files. */
    limit?: number;
    /** pattern is plain text. */
    literal?: boolean;
    /** Left out: lines. */
    output?: "lines" | "files" | "count";
    /** The folder or file. Left out: all. */
    path?: string;
    /** A regular expression (Rust's), for one line. */
    pattern: string;
  }) => Promise<{
    /** Where nothing matches: how many lines hold the pattern as plain text. */
    as_literal?: number;
    /** How many files are binary and were skipped. */
    binary: number;
    /** The first files with matches. */
    files: Array<{
      /** How many of its lines match, where that was counted. */
      count?: number;
      /** The lines, if lines were asked for. */
      lines?: Array<{
        /** Whether it is only a part of the line. */
        cut?: boolean;
        /** Its number. */
        line: number;
        /** Its text without the line end. Bytes that are not UTF-8 stand as `\xNN`. */
        text: string;
        /** Whether it matches. */
        type: "match" | "context";
      }>;
      /** The file. */
      path: string;
    }>;
    /** What was not looked at. */
    left_out: {
      /** Ignored or hidden files and folders; a folder counts as one. */
      ignored: number;
      /** Files and folders whose names are not UTF-8. */
      unnamed: number;
      /** Files and folders that the system does not let this process read. */
      unreadable: number;
      /** The first of these. */
      unreadable_paths?: string[];
      /** Files that a rule keeps from being read. */
      withheld: number;
    };
    /** What is shown of each file. */
    output: "lines" | "files" | "count";
    /** How many files have a line that is too long to be searched, and were searched up to it. */
    overlong: number;
    /** The folder or file that was searched. */
    path: string;
    /** How many files were searched. */
    searched: number;
    /** How many matching lines are shown. */
    shown_lines: number;
    /** How many files have a match. */
    total_files: number;
    /** How many lines match in all; not counted where only names are asked for. */
    total_lines?: number;
    /** Whether not all matches are shown. */
    truncated: boolean;
  }>;
  /** Write down the steps of your work and how far each is, so that the user can follow: the whole list each time. For work of three steps or more; mark a step in_progress before you begin it and done once it is. */
  todo_write: (args: {
    /** All steps in order; they replace the list before. */
    todos: Array<{
      /** How far it is. */
      status: "pending" | "in_progress" | "done";
      /** What is to be done. */
      text: string;
    }>;
  }) => Promise<{
    /** All steps. */
    todos: Array<{
      /** How far it is. */
      status: "pending" | "in_progress" | "done";
      /** What is to be done. */
      text: string;
    }>;
  }>;
  /** Take back a change made with these tools: every file of it is as it was before. Leave change out for your newest, and call again to go further back. Refused with stale_version if a file has changed since. To redo, undo the undo by its own id. */
  undo_change: (args?: {
    /** A change or a run, by name. Left out: your newest that stands. */
    change?: string;
  }) => Promise<{
    /** The files that are as they were before it. */
    paths: string[];
    /** Folders that the change had made and that stay, since something else is in them. */
    stay?: string[];
    /** The change that is undone. */
    undone: string;
  }>;
  /** Create a file, or replace ALL of an existing one. To change a part use patch_file. Before replacing a file, read all of it. content is written byte for byte. A missing folder is an error unless create_dirs is true. Mode, owner, byte order mark and UTF-16 of the file stay. */
  write_file: (args: {
    /** Everything the file shall hold, without line numbers. */
    content: string;
    /** Make missing folders. */
    create_dirs?: boolean;
    /** Only if the file is still at this version. */
    expected_version?: string;
    /** The file, such as src/main.rs. */
    path: string;
  }) => Promise<{
    /** Whether anything is different from before. */
    changed: boolean;
    /** Whether the file is new. */
    created: boolean;
    /** What is worth knowing: a byte order mark that was kept, a name that another system refuses. */
    notes?: string[];
    /** The file, as it was named. */
    path: string;
    /** The size of the file in bytes. */
    size: number;
    /** The version of the file now. */
    version: string;
  }>;
  /** The full declaration of one tool, with all that is said about it. */
  describe: (tool: string) => Promise<string>;
};
