import { queryOptions } from '@tanstack/react-query';
import {
  deleteSkill,
  getSkill,
  getSkillFileContent,
  getSkillVersion,
  listSkillFiles,
  listSkills,
  listSkillVersions,
  type Skill,
  type SkillFile,
  updateSkill,
} from '../gen/index.ts';
import { type ByteRange, rangeOptions, unwrapBlob } from './byte-range.ts';
import { API_BASE, unwrapData, unwrapPage } from './client.ts';
import { pagedQuery } from './pages.ts';
import { sendRequest } from './send-request.ts';
import type { SkillArchive } from './skill-archive.ts';

/** A version of a skill. A version never changes. */
export interface SkillVersionRef {
  skillId: string;
  version: number;
}

export interface PublishedSkill {
  skill: Skill;
  /** False when the newest version has the same files. */
  isNew: boolean;
}

const PAGE_SIZE = 100;

const pathOf = (skillId: string) => ({ path: { skill_id: skillId } });
const versionPathOf = ({ skillId, version }: SkillVersionRef) => ({
  path: { skill_id: skillId, version: String(version) },
});
const versionKeyOf = ({ skillId, version }: SkillVersionRef, ...rest: readonly unknown[]) => [
  ...['skills', skillId, 'versions', version],
  ...rest,
];

/** API path of a version, below /api/v1. */
export const skillVersionPath = ({ skillId, version }: SkillVersionRef) =>
  `/admin/skills/${skillId}/versions/${version}`;

/** Returns all files of a version, of which there are at most 2,000. */
async function allFiles(of: SkillVersionRef, signal: AbortSignal): Promise<SkillFile[]> {
  const files: SkillFile[] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: PAGE_SIZE, cursor };
    const page = await unwrapPage(listSkillFiles({ ...versionPathOf(of), query, signal }));
    files.push(...page.items);
    cursor = page.next;
  } while (cursor !== undefined);
  return files;
}

/** Queries and mutations of skills, for administrators. Query keys begin with `skills`. */
export const skills = {
  list: (q?: string) =>
    pagedQuery(['skills', 'list', q], (cursor, signal) =>
      unwrapPage(listSkills({ query: { q, cursor }, signal })),
    ),
  detail: (skillId: string) =>
    queryOptions({
      queryKey: ['skills', skillId],
      queryFn: ({ signal }) => unwrapData(getSkill({ ...pathOf(skillId), signal })),
    }),
  versions: (skillId: string) =>
    pagedQuery(['skills', skillId, 'version-list'], (cursor, signal) =>
      unwrapPage(listSkillVersions({ ...pathOf(skillId), query: { cursor }, signal })),
    ),
  version: (of: SkillVersionRef) =>
    queryOptions({
      queryKey: versionKeyOf(of),
      queryFn: ({ signal }) => unwrapData(getSkillVersion({ ...versionPathOf(of), signal })),
      staleTime: Number.POSITIVE_INFINITY,
    }),
  files: (of: SkillVersionRef) =>
    queryOptions({
      queryKey: versionKeyOf(of, 'files'),
      queryFn: ({ signal }) => allFiles(of, signal),
      staleTime: Number.POSITIVE_INFINITY,
    }),
  /** A value that `read` derives from the content of a file. `kind` names the derived value. */
  content: <Value>(
    of: SkillVersionRef,
    path: string,
    kind: string,
    read: (signal: AbortSignal) => Promise<Value>,
  ) =>
    queryOptions({
      queryKey: versionKeyOf(of, kind, path),
      queryFn: ({ signal }) => read(signal),
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: 60_000,
    }),
  contentUrl: (of: SkillVersionRef, path: string) =>
    `${API_BASE}${skillVersionPath(of)}/files/content?path=${encodeURIComponent(path)}`,
  readRange: (of: SkillVersionRef, path: string, range: ByteRange, signal: AbortSignal) =>
    unwrapBlob(
      getSkillFileContent({ ...versionPathOf(of), query: { path }, ...rangeOptions(range), signal }),
    ),
  /**
   * Creates a skill, or publishes a version of the skill `skillId`. `onProgress` receives the fraction that has been sent,
   * from 0 to 1. Rejects with an ApiError or an AbortError.
   */
  async publish(
    skillId: string | undefined,
    { file, mediaType }: SkillArchive,
    key: string,
    onProgress: (fraction: number) => void,
    signal: AbortSignal,
  ): Promise<PublishedSkill> {
    const url = `${API_BASE}/admin/skills${skillId === undefined ? '' : `/${skillId}/versions`}`;
    const headers = { 'Content-Type': mediaType, 'Idempotency-Key': key };
    const request = { method: 'POST', url, body: file, headers } as const;
    const { status, data } = await sendRequest<Skill>(request, onProgress, signal);
    return { skill: data, isNew: status === 201 };
  },
  update: (skillId: string, revision: number, body: { enabled: boolean }) =>
    unwrapData(updateSkill({ ...pathOf(skillId), body, headers: { 'If-Match': `"${revision}"` } })),
  remove: (skillId: string) => unwrapData(deleteSkill(pathOf(skillId))),
};
