/** A file to publish as a skill. */
export interface SkillArchive {
  file: File;
  mediaType: 'application/zip' | 'application/x-tar' | 'application/gzip';
}
