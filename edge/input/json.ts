import { type FieldProblem, type Refusal, refuse } from '../../lib/errors.ts';
import { step } from './pointer.ts';
import { findUnkeepable } from './text.ts';

/** Nobody's request is nested deeper, and what walks over it later may be recursive. */
const MAX_DEPTH = 100;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads a request body. Stricter than JSON.parse where two readers could understand the same bytes
 * differently: the text must be UTF-8, a member may stand in its object once, and none may be named
 * `__proto__`. Refused with INVALID_REQUEST.
 */
export function readJson(bytes: Buffer): unknown {
  const { text, value } = read(bytes);
  const problem = findAmbiguity(text);
  if (problem) throw malformed(`${problem.pointer || 'the body'} ${problem.message}`, [problem]);
  return value;
}

/** Refuses a value that cannot be kept as it came: with INVALID_TEXT for a text, with INVALID_REQUEST for a number. */
export function checkKeepable(value: unknown): void {
  const { texts, numbers } = findUnkeepable(value);
  if (texts.length > 0) {
    throw refuse('INVALID_TEXT', 'a text holds a NUL character or a lone surrogate', { details: texts });
  }
  if (numbers.length > 0) throw malformed('a number is too large', numbers);
}

interface Reading {
  text: string;
  value: unknown;
}

function read(bytes: Buffer): Reading {
  const text = decode(bytes);
  const reading = parse(text) ?? parse(decode(escapeUnkeepable(bytes)));
  if (reading) return reading;
  throw malformed(text === undefined ? 'the body is not UTF-8' : 'the body is not valid JSON');
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

function parse(text: string | undefined): Reading | undefined {
  if (text === undefined) return undefined;
  try {
    return { text, value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/**
 * Writes NUL bytes and encoded surrogates as JSON can write them, so that a body in which nothing else is
 * wrong is refused with the place where they stand.
 */
function escapeUnkeepable(bytes: Buffer): Buffer {
  const escaped = bytes
    .toString('latin1')
    .replaceAll('\0', '\\u0000')
    .replace(/\xed[\xa0-\xbf][\x80-\xbf]/g, '\\ud800');
  return Buffer.from(escaped, 'latin1');
}

function malformed(message: string, details: FieldProblem[] = []): Refusal {
  return refuse('INVALID_REQUEST', message, { details });
}

interface Level {
  /** Names seen so far; undefined in an array. */
  names: Set<string> | undefined;
  /** The member or index being read. */
  at: string | number;
}

/** Walks over the tokens of a text that JSON.parse has accepted, so that only their order matters here. */
function findAmbiguity(text: string): FieldProblem | undefined {
  const levels: Level[] = [];
  let nameComes = false;
  for (let i = 0; i < text.length; i++) {
    const level = levels.at(-1);
    switch (text[i]) {
      case '"': {
        const end = endOfString(text, i);
        if (nameComes && level?.names) {
          const name: string = JSON.parse(text.slice(i, end + 1));
          const message = problemOf(name, level.names);
          if (message) return { pointer: pointerTo(levels.slice(0, -1)) + step(name), message };
          level.names.add(name);
          level.at = name;
          nameComes = false;
        }
        i = end;
        break;
      }
      case '{':
      case '[': {
        if (levels.length === MAX_DEPTH) {
          return { pointer: '', message: `must not be nested deeper than ${MAX_DEPTH} levels` };
        }
        nameComes = text[i] === '{';
        levels.push({ names: nameComes ? new Set() : undefined, at: 0 });
        break;
      }
      case '}':
      case ']':
        levels.pop();
        nameComes = false;
        break;
      case ',':
        if (!level) break;
        nameComes = level.names !== undefined;
        if (typeof level.at === 'number') level.at++;
    }
  }
  return undefined;
}

function problemOf(name: string, seen: Set<string>): string | undefined {
  if (name === '__proto__') return 'is not a name a member can have';
  return seen.has(name) ? 'stands more than once in its object' : undefined;
}

function pointerTo(levels: readonly Level[]): string {
  return levels.map((level) => step(level.at)).join('');
}

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text[end - 1 - slashes] === '\\') slashes++;
    if (slashes % 2 === 0) return end;
  }
}
