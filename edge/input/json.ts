import { type FieldProblem, type Refusal, refuse } from '../../lib/errors.ts';
import { pointerStep } from '../../lib/json-schema/pointer.ts';
import { findUnstorable } from './text.ts';

/** Code that processes the value later may be recursive. */
const MAX_DEPTH = 100;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a JSON request body. Stricter than JSON.parse where two parsers could interpret the same bytes differently: the text
 * must be UTF-8, object members must be unique, and none may be named `__proto__`. Refuses with INVALID_REQUEST.
 */
export function readJson(bytes: Buffer): unknown {
  const { text, value } = read(bytes);
  const problem = findAmbiguity(text);
  if (problem) throw malformed(`${problem.pointer || 'The body'} ${problem.message}`, [problem]);
  return value;
}

/** Refuses values that cannot be stored unchanged: strings with INVALID_TEXT, numbers with INVALID_REQUEST. */
export function checkStorable(value: unknown): void {
  const { texts, numbers } = findUnstorable(value);
  if (texts.length > 0) {
    throw refuse('INVALID_TEXT', 'A string contains a NUL character or a lone surrogate.', {
      details: texts,
    });
  }
  if (numbers.length > 0) throw malformed('A number is too large.', numbers);
}

interface ParsedJson {
  text: string;
  value: unknown;
}

function read(bytes: Buffer): ParsedJson {
  const text = decode(bytes);
  const parsed = parse(text);
  if (parsed) return parsed;
  const escaped = parse(decode(escapeUnstorable(bytes)));
  // Here and not later: callers do not check members that they ignore.
  if (escaped) checkStorable(escaped.value);
  throw malformed(text === undefined ? 'The body is not UTF-8.' : 'The body is not valid JSON.');
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

function parse(text: string | undefined): ParsedJson | undefined {
  if (text === undefined) return undefined;
  try {
    return { text, value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/**
 * Replaces NUL bytes and encoded surrogates by JSON escapes, so that a body that is otherwise valid is refused with the
 * pointer of the invalid string.
 */
function escapeUnstorable(bytes: Buffer): Buffer {
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

/** Scans the tokens of a text that JSON.parse has accepted, so the syntax needs no checks here. */
function findAmbiguity(text: string): FieldProblem | undefined {
  const levels: Level[] = [];
  let expectsName = false;
  for (let i = 0; i < text.length; i++) {
    const level = levels.at(-1);
    switch (text[i]) {
      case '"': {
        const end = endOfString(text, i);
        if (expectsName && level?.names) {
          const name: string = JSON.parse(text.slice(i, end + 1));
          const message = problemOf(name, level.names);
          if (message) return { pointer: pointerTo(levels.slice(0, -1)) + pointerStep(name), message };
          level.names.add(name);
          level.at = name;
          expectsName = false;
        }
        i = end;
        break;
      }
      case '{':
      case '[': {
        if (levels.length === MAX_DEPTH) {
          return { pointer: '', message: `must not be nested deeper than ${MAX_DEPTH} levels` };
        }
        expectsName = text[i] === '{';
        levels.push({ names: expectsName ? new Set() : undefined, at: 0 });
        break;
      }
      case '}':
      case ']':
        levels.pop();
        expectsName = false;
        break;
      case ',':
        if (!level) break;
        expectsName = level.names !== undefined;
        if (typeof level.at === 'number') level.at++;
    }
  }
  return undefined;
}

function problemOf(name: string, seen: Set<string>): string | undefined {
  if (name === '__proto__') return 'is not an allowed member name';
  return seen.has(name) ? 'appears more than once in its object' : undefined;
}

function pointerTo(levels: readonly Level[]): string {
  return levels.map((level) => pointerStep(level.at)).join('');
}

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text[end - 1 - slashes] === '\\') slashes++;
    if (slashes % 2 === 0) return end;
  }
}
