/**
 * The thread that matches patterns of models. A regular expression can take exponential time, so the Searcher terminates
 * this thread when it does not answer in time.
 */
import { posix } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import type { LineMatch, SearchQuery, SearchRequest, SearchResponse } from './messages.ts';

const { pattern, ignoreCase, glob } = workerData as SearchQuery;
/** The searched part of a longer line, in UTF-16 units. */
const LINE_CHARS = 20_000;
const SHOWN_CHARS = 300;
/** Limit of matching lines per file. */
const MAX_MATCHES = 200;

const expression = compilePattern();

/** Returns the error message for an invalid pattern. A pattern that is invalid in unicode mode is tried without it. */
function compilePattern(): RegExp | string {
  const flags = ignoreCase ? 'i' : '';
  for (const mode of ['u', '']) {
    try {
      return new RegExp(pattern, flags + mode);
    } catch (error) {
      if (mode === '') return error instanceof Error ? error.message : String(error);
    }
  }
  return '';
}

function matchesGlob(path: string): boolean {
  if (glob === '') return true;
  return posix.matchesGlob(glob.includes('/') ? path : posix.basename(path), glob);
}

function search(bytes: Uint8Array, expression: RegExp): LineMatch[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const matches: LineMatch[] = [];
  let line = 1;
  for (let begin = 0; begin < text.length; line++) {
    const newline = text.indexOf('\n', begin);
    const end = newline < 0 ? text.length : newline;
    const candidate = text.slice(begin, Math.min(end, begin + LINE_CHARS)).replace(/\r$/, '');
    const match = expression.exec(candidate);
    if (match) matches.push({ line, text: excerptAround(candidate, match.index) });
    if (matches.length === MAX_MATCHES) break;
    begin = end + 1;
  }
  return matches;
}

/** The part of a long line around the match. */
function excerptAround(line: string, index: number): string {
  if (line.length <= SHOWN_CHARS) return line;
  const begin = Math.max(0, Math.min(index - SHOWN_CHARS / 4, line.length - SHOWN_CHARS));
  return `${begin > 0 ? '…' : ''}${line.slice(begin, begin + SHOWN_CHARS).toWellFormed()}…`;
}

parentPort?.on('message', (request: SearchRequest) => {
  const response: SearchResponse =
    typeof expression === 'string'
      ? { patternError: expression }
      : 'paths' in request
        ? { matchingPaths: request.paths.filter(matchesGlob) }
        : { lines: search(request.bytes, expression) };
  parentPort?.postMessage(response);
});
