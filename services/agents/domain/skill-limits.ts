const MIB = 1024 * 1024;

/** Limits of an archive of a skill. */
export const SKILL_LIMITS = {
  archiveBytes: 20 * MIB,
  /** Files and directories, also those that are left out. */
  entries: 2_000,
  /** All unpacked files together. */
  bytes: 100 * MIB,
  fileBytes: 32 * MIB,
  /** Unpacked bytes for each packed byte, for more than `unlimitedRatioBytes` unpacked bytes. */
  ratio: 100,
  unlimitedRatioBytes: MIB,
  frontmatterBytes: 16 * 1024,
};
