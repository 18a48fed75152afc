import { type Problems, step } from './problems.ts';
import { checkStandard } from './standard.ts';

const MAX_BYTES = 256 * 1024;
/** Deeper nesting is nobody's options, and would exhaust the stack of whoever reads it next. */
const MAX_DEPTH = 64;
const MAX_POINTER = 256;

/** Reports what keeps a text from being the JSON object of a model's options. What is in it is the model's affair,
 * but for the options that all models share. */
export function checkOptions(pointer: string, json: string, problems: Problems): void {
  const options = parse(json);
  if (Buffer.byteLength(json) > MAX_BYTES) problems.add(pointer, 'must be at most 256 KiB of JSON');
  else if (options === undefined) problems.add(pointer, 'must be a JSON object');
  else {
    checkMembers(pointer, options, problems);
    checkStandard(pointer, options, problems);
  }
}

/** Walks without recursion: how deep the options are is only known afterwards. */
function checkMembers(pointer: string, options: object, problems: Problems): void {
  const open: [place: string, value: unknown, depth: number][] = [[pointer, options, 1]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [place, value, depth] = next;
    if (typeof value === 'string') problems.storable(place, value);
    if (typeof value !== 'object' || value === null) continue;
    if (depth > MAX_DEPTH) {
      problems.add(pointer, `must not be nested deeper than ${MAX_DEPTH} levels`);
      break;
    }
    for (const [name, member] of Object.entries(value)) {
      const shown = problems.storable(place, name) && place.length + name.length <= MAX_POINTER;
      open.push([shown ? place + step(name) : place, member, depth + 1]);
    }
  }
}

/** Whether two texts hold the same options, in whatever order their members stand. */
export function sameOptions(one: string, other: string): boolean {
  return one === other || canonical(parse(one)) === canonical(parse(other));
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
