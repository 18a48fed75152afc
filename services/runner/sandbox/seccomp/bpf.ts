/**
 * Programs for the packet filter of the kernel, which it also runs for each system call of a process under seccomp.
 * https://docs.kernel.org/userspace-api/seccomp_filter.html and networking/filter.html
 */

/** Where jumps lead. */
export interface Label {
  label: string;
}

export type Instruction =
  /** Loads 32 bits of what the program is given. */
  | { op: 'load'; offset: number }
  /** Compares what was loaded with `value`, or looks for any of its bits; goes on below unless told otherwise. */
  | { op: 'equal' | 'greater' | 'any'; value: number; hit?: string; miss?: string }
  | { op: 'return'; value: number }
  | Label;

const LOAD = 0x20;
const RETURN = 0x06;
const JUMPS = { equal: 0x15, greater: 0x25, any: 0x45 } as const;
const BYTES = 8;
const MOST_INSTRUCTIONS = 4096;
const FARTHEST = 255;

/** The program as the kernel reads it. Throws for a label that is missing, behind, or too far away. */
export function assemble(program: readonly Instruction[]): Uint8Array {
  const places = new Map<string, number>();
  const steps: Exclude<Instruction, Label>[] = [];
  for (const one of program) {
    if ('label' in one) places.set(one.label, steps.length);
    else steps.push(one);
  }
  if (steps.length > MOST_INSTRUCTIONS) throw new Error('the program is too long');
  const bytes = new Uint8Array(steps.length * BYTES);
  const view = new DataView(bytes.buffer);
  steps.forEach((step, at) => {
    const distance = (label: string | undefined): number => {
      if (label === undefined) return 0;
      const far = (places.get(label) ?? Number.NaN) - at - 1;
      if (!(far >= 0 && far <= FARTHEST)) throw new Error(`there is no way from ${at} to ${label}`);
      return far;
    };
    const put = (code: number, hit: number, miss: number, value: number) => {
      view.setUint16(at * BYTES, code, true);
      view.setUint8(at * BYTES + 2, hit);
      view.setUint8(at * BYTES + 3, miss);
      view.setUint32(at * BYTES + 4, value >>> 0, true);
    };
    if (step.op === 'load') put(LOAD, 0, 0, step.offset);
    else if (step.op === 'return') put(RETURN, 0, 0, step.value);
    else put(JUMPS[step.op], distance(step.hit), distance(step.miss), step.value);
  });
  return bytes;
}
