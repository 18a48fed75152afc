import { FieldProblems, pointerSegment } from '../../../lib/field-problems.ts';
import { unknownModelOptions } from '../../../lib/model-options.ts';
import { isStorable } from '../../../lib/text.ts';
import { checkStandardOptions } from './standard-options.ts';

const MAX_BYTES = 256 * 1024;
/** Deeper nesting has no use and would exhaust the stack of recursive readers. */
const MAX_DEPTH = 64;
const MAX_POINTER = 256;
const POINTER = '/model_options';

/** Reports options that are not a JSON object within the limits, and standard options with invalid values. */
export function checkModelOptions(json: string, problems: FieldProblems): void {
  const options = parse(json);
  if (Buffer.byteLength(json) > MAX_BYTES) problems.add(POINTER, 'must be at most 256 KiB of JSON');
  else if (options === undefined) problems.add(POINTER, 'must be a JSON object');
  else {
    checkOptionTree(options, problems);
    checkStandardOptions(POINTER, options, problems);
  }
}

/** Reports options that the provider of the model does not know. Its library would drop them silently. */
export function checkModelOptionNames(model: string, json: string, problems: FieldProblems): void {
  for (const name of unknownModelOptions(model, parse(json) ?? {})) {
    // Unstorable names are reported with the values of the options.
    if (!isStorable(name)) continue;
    const pointer = POINTER + pointerSegment(name);
    problems.add(pointer.length <= MAX_POINTER ? pointer : POINTER, `is not an option of the model ${model}`);
  }
}

/** Refused with INVALID_REQUEST for a new version with options that its model does not know. */
export function requireKnownOptions({ model, modelOptionsJson }: ModelSettings): void {
  const problems = new FieldProblems();
  checkModelOptionNames(model, modelOptionsJson, problems);
  problems.throwIfAny();
}

/** Walks the options without recursion, because their depth is only known afterwards. */
function checkOptionTree(options: object, problems: FieldProblems): void {
  const open: [pointer: string, value: unknown, depth: number][] = [[POINTER, options, 1]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [pointer, value, depth] = next;
    if (typeof value === 'string') problems.storable(pointer, value);
    if (typeof value !== 'object' || value === null) continue;
    if (depth > MAX_DEPTH) {
      problems.add(POINTER, `must not be nested deeper than ${MAX_DEPTH} levels`);
      break;
    }
    for (const [name, member] of Object.entries(value)) {
      const fits = problems.storable(pointer, name) && pointer.length + name.length <= MAX_POINTER;
      open.push([fits ? pointer + pointerSegment(name) : pointer, member, depth + 1]);
    }
  }
}

/** Returns whether two JSON texts hold the same options, regardless of the order of members. */
export function sameOptions(one: string, other: string): boolean {
  return one === other || canonical(parse(one)) === canonical(parse(other));
}

interface ModelSettings {
  model: string;
  modelOptionsJson: string;
}

function parse(json: string): object | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join()}}`;
}
