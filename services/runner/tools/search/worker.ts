/**
 * The thread in which a model's patterns are tried. A regular expression may take for ever: whoever asks ends this
 * thread when it does not answer in time, and nobody else has waited for it.
 */
import { posix } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import type { Asked, Found, Search, Told } from './messages.ts';

const { pattern, ignoreCase, glob } = workerData as Search;
/** Longer lines are searched up to here. */
const LINE_CHARS = 20_000;
const SHOWN_CHARS = 300;
/** Of one file. */
const MAX_FOUND = 200;

const expression = compiled();

/** Without the strictness of unicode mode where the pattern does not stand it. */
function compiled(): RegExp | string {
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

function wanted(path: string): boolean {
  if (glob === '') return true;
  return posix.matchesGlob(glob.includes('/') ? path : posix.basename(path), glob);
}

function search(bytes: Uint8Array, expression: RegExp): Found[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const found: Found[] = [];
  let line = 1;
  for (let begin = 0; begin < text.length; line++) {
    const newline = text.indexOf('\n', begin);
    const end = newline < 0 ? text.length : newline;
    const candidate = text.slice(begin, Math.min(end, begin + LINE_CHARS)).replace(/\r$/, '');
    const match = expression.exec(candidate);
    if (match) found.push({ line, text: around(candidate, match.index) });
    if (found.length === MAX_FOUND) break;
    begin = end + 1;
  }
  return found;
}

/** Of a long line, what stands around the match. */
function around(line: string, at: number): string {
  if (line.length <= SHOWN_CHARS) return line;
  const begin = Math.max(0, Math.min(at - SHOWN_CHARS / 4, line.length - SHOWN_CHARS));
  return `${begin > 0 ? '…' : ''}${line.slice(begin, begin + SHOWN_CHARS).toWellFormed()}…`;
}

parentPort?.on('message', (asked: Asked) => {
  const answer: Told =
    typeof expression === 'string'
      ? { problem: expression }
      : 'paths' in asked
        ? { wanted: asked.paths.filter(wanted) }
        : { found: search(asked.bytes, expression) };
  parentPort?.postMessage(answer);
});
