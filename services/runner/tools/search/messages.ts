/** What a thread is started with. */
export interface Search {
  pattern: string;
  ignoreCase: boolean;
  /** Of the names, or with a slash of the paths, of the files that are looked at; empty for all. */
  glob: string;
}

/** One after the other: each is answered before the next is sent. */
export type Asked = { paths: string[] } | { bytes: Uint8Array };

export type Told = { wanted: string[] } | { found: Found[] } | { problem: string };

export interface Found {
  /** From 1. */
  line: number;
  text: string;
}
