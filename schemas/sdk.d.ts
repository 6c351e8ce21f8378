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
  /** Show what is in a folder: one line an entry, `type size path`, sorted by name; type is file, dir, link or other, and folders end with /. Use it to find your way and before guessing a path. depth 2 or more shows the folders below as well. Nothing is hidden or ignored; links are shown with where they point and are not entered. At most 10000 entries are shown, and it says if there are more. */
  list_dir: (args?: {
    /** How many levels to show, 1 for the folder's own entries only. Left out: 1. */
    depth?: number;
    /** The folder, relative to the workspace's folder. Left out or `.`: the workspace's folder itself. */
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
  /** Replace old_str by new_str in a text file: the safe way to change a part of it. Read the file first and copy old_str from it exactly, with its indentation, without the `N: ` line numbers. old_str must occur exactly once: take in lines around it until it does, or set replace_all. Both are literal text, no regex and no escapes. Nothing is matched approximately: if old_str is not there the file stays as it is, and old_str_not_found shows the nearest place and what differs; ambiguous_match names the lines of all matches. A \n in old_str also matches the file's \r\n, and new lines take the line end… */
  patch_file: (args: {
    /** Change nothing, answer with the diff. */
    dry_run?: boolean;
    /** Patch only if the file is still at this version, as an earlier result told it. */
    expected_version?: string;
    /** The text to put there, taken literally. Empty: old_str is deleted. */
    new_str: string;
    /** The text to replace, exactly as it stands in the file, with enough lines around it to occur only once. */
    old_str: string;
    /** The file, relative to the workspace's folder, such as src/main.rs. */
    path: string;
    /** Replace every occurrence, left to right. Left out: old_str must occur exactly once. */
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
  /** Read a text file, or look at an image (png, jpeg, gif, webp). USE THIS BEFORE CHANGING A FILE: always read what is there now. Every line comes as `N: text`; the number and `: ` are not in the file, so never put them into old_str or content. An answer holds up to 2000 lines or 256 KiB; if there is more, it says with which start_line to go on. For a long file ask for the lines you need with start_line and end_line. Fails with file_not_found, not_a_file, binary_file, unsupported_encoding or outside_workspace. */
  read_file: (args: {
    /** Last line to read, included. Left out: to the end, or as much as one answer holds. */
    end_line?: number;
    /** Bytes of start_line to skip: only to go on inside a line that an earlier answer had to cut. */
    line_offset?: number;
    /** The file, relative to the workspace's folder, such as src/main.rs. */
    path: string;
    /** First line to read, counted from 1. Left out: from the start. */
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
  /** Write down the steps of your work and how far each is, so that the user can follow. Send the whole list each time: it replaces the one before. Use it for work of three steps or more, mark one step in_progress before you begin it and done as soon as it is. It changes no file. */
  todo_write: (args: {
    /** All steps of the work, in order; this list replaces the one before. */
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
  /** Take back a change that you made with these tools: every file of it is as it was before, with all its bytes; a file that the change created is removed. Leave change out to undo your newest one, and call again to go further back. It is refused with stale_version if a file has changed since, so nobody's later work is lost. An undo is a change too: to redo, undo the undo by its own id. */
  undo_change: (args?: {
    /** The change, as a result named it. Left out: the newest of yours that is not undone yet. */
    change?: string;
  }) => Promise<{
    /** The files that are as they were before it. */
    paths: string[];
    /** The change that is undone. */
    undone: string;
  }>;
  /** Create a file, or replace ALL of an existing one with content. To change a part of a file use patch_file instead: it cannot lose the rest. Before replacing a file, read all of it. content is written byte for byte: nothing is added, trimmed or reformatted. It will not make folders: if the folder is missing it fails with file_not_found, unless create_dirs is true. Links are followed, mode and owner stay. A byte order mark and UTF-16 of the file stay; a file that is not text is refused. */
  write_file: (args: {
    /** Everything the file shall hold, exactly as it shall stand there. No line numbers. */
    content: string;
    /** Make the folders above the file if they are missing. Left out: no folder is made. */
    create_dirs?: boolean;
    /** Write only if the file is still at this version, as an earlier result told it. */
    expected_version?: string;
    /** The file, relative to the workspace's folder, such as src/main.rs. */
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
