/** The messages between a Searcher and its worker thread. The thread answers each request before the next is sent. */

/** The worker data of the thread. */
export interface SearchQuery {
  pattern: string;
  ignoreCase: boolean;
  /** Matches file names, or whole paths if it contains a slash; empty matches every file. */
  glob: string;
}

export type SearchRequest = { paths: string[] } | { bytes: Uint8Array };

export type SearchResponse = { matchingPaths: string[] } | { lines: LineMatch[] } | { patternError: string };

export interface LineMatch {
  /** From 1. */
  line: number;
  text: string;
}
