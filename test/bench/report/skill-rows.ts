import type { Skills } from '../measurements/files/skills.ts';
import { median, ms, type Row } from './rows.ts';

/** Results of the measurement of skills per round; empty if it was not measured. */
export interface SkillResults {
  skills: Skills[];
}

const MIB = 1024 * 1024;
/** Targets for a skill of 20 MiB in 2,000 files. */
const UPLOAD_MS = 3_000;
const UPLOAD_MIB = 128;
const BIND_MS = 5;

export function skillRows({ skills }: SkillResults): Row[] {
  if (skills.length === 0) return [];
  const of = (value: (one: Skills) => number) => median(skills, value);
  const [upload, grown] = [of((one) => one.uploadMs), of((one) => one.grown) / MIB];
  const [later, bare] = [of((one) => one.laterMs), of((one) => one.bareCommandMs)];
  return [
    {
      letter: "k'",
      what: 'upload of a skill, 20 MiB in 2,000 files',
      figure: `${ms(upload)}, unpacked to disk ${ms(of((one) => one.bareUploadMs))}`,
      ratio: `k'/bare ${of((one) => one.uploadMs / one.bareUploadMs).toFixed(1)}`,
      target: [`at most ${UPLOAD_MS / 1_000} s`, upload <= UPLOAD_MS],
    },
    {
      what: 'memory, the same upload',
      figure: `+${grown.toFixed(0)} MiB`,
      ratio: `k'/size ${(grown / 20).toFixed(1)}`,
      target: [`at most ${UPLOAD_MIB} MiB`, grown <= UPLOAD_MIB],
    },
    {
      what: `command that sees it again, ${skills[0]?.provider}`,
      figure: `${later.toFixed(1)} ms, without it ${bare.toFixed(1)} ms`,
      ratio: `k'/bare ${of((one) => one.laterMs / one.bareCommandMs).toFixed(2)}`,
      target: [`at most ${BIND_MS} ms above`, later - bare <= BIND_MS],
    },
    { what: 'copy it for the first command', figure: ms(of((one) => one.firstMs)) },
  ];
}
