/**
 * Assembler for the kernel's packet filter, which also runs for each system call of a process under seccomp.
 * https://docs.kernel.org/userspace-api/seccomp_filter.html and networking/filter.html
 */

/** Target of jumps. */
interface Label {
  label: string;
}

export type Instruction =
  /** Loads 32 bits of the input of the program. */
  | { op: 'load'; offset: number }
  /** Compares the loaded value with `value`, or tests for any of its bits. Continues below without a label. */
  | { op: 'equal' | 'greater' | 'any'; value: number; hit?: string; miss?: string }
  | { op: 'return'; value: number }
  | Label;

const LOAD = 0x20;
const RETURN = 0x06;
const JUMPS = { equal: 0x15, greater: 0x25, any: 0x45 } as const;
const INSTRUCTION_BYTES = 8;
const MAX_INSTRUCTIONS = 4096;
const MAX_JUMP = 255;

/** Returns the program in the kernel's format. Throws for a label that is missing, backward or too far away. */
export function assemble(program: readonly Instruction[]): Uint8Array {
  const labels = new Map<string, number>();
  const steps: Exclude<Instruction, Label>[] = [];
  for (const one of program) {
    if ('label' in one) labels.set(one.label, steps.length);
    else steps.push(one);
  }
  if (steps.length > MAX_INSTRUCTIONS)
    throw new Error(`The program has more than ${MAX_INSTRUCTIONS} instructions.`);
  const bytes = new Uint8Array(steps.length * INSTRUCTION_BYTES);
  const view = new DataView(bytes.buffer);
  steps.forEach((step, at) => {
    const distance = (label: string | undefined): number => {
      if (label === undefined) return 0;
      const offset = (labels.get(label) ?? Number.NaN) - at - 1;
      if (!(offset >= 0 && offset <= MAX_JUMP))
        throw new Error(`Instruction ${at} cannot jump to the label ${label}.`);
      return offset;
    };
    const put = (code: number, hit: number, miss: number, value: number) => {
      view.setUint16(at * INSTRUCTION_BYTES, code, true);
      view.setUint8(at * INSTRUCTION_BYTES + 2, hit);
      view.setUint8(at * INSTRUCTION_BYTES + 3, miss);
      view.setUint32(at * INSTRUCTION_BYTES + 4, value >>> 0, true);
    };
    if (step.op === 'load') put(LOAD, 0, 0, step.offset);
    else if (step.op === 'return') put(RETURN, 0, 0, step.value);
    else put(JUMPS[step.op], distance(step.hit), distance(step.miss), step.value);
  });
  return bytes;
}
