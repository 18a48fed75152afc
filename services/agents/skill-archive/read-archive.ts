import { SkillProblem } from '../domain/skill-problem.ts';
import { SKILL_FILE, SkillTree, skillRoot } from '../domain/skill-tree.ts';
import { EntryWriter } from './entry-writer.ts';
import { parseFrontmatter } from './frontmatter.ts';
import type { UnpackedSkill, UnpackResult, UnpackTask } from './messages.ts';
import { unpackTar } from './tar.ts';
import { unpackZip } from './zip.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Unpacks an archive in this thread. Rejects only for failures of this machine. */
export function readArchive(task: UnpackTask): Promise<UnpackResult> {
  return unpack(task).then((skill): UnpackResult => ({ kind: 'done', skill }), resultOf);
}

async function unpack({ archive, type, contents }: UnpackTask): Promise<UnpackedSkill> {
  const tree = new SkillTree();
  using writer = new EntryWriter(contents, tree);
  if (type === 'application/zip') await unpackZip(archive, tree, writer);
  else await unpackTar(archive, type === 'application/gzip', tree, writer);
  const folder = skillRoot(writer.files.map(({ path }) => path));
  const prefix = folder === '' ? 0 : folder.length + 1;
  const files = writer.files.map((file) => ({ ...file, path: file.path.slice(prefix) }));
  files.sort((one, other) => Buffer.compare(Buffer.from(one.path), Buffer.from(other.path)));
  const skillFile = files.find(({ path }) => path === SKILL_FILE);
  const frontmatter = parseFrontmatter(skillFile ? textOf(writer.read(skillFile)) : '', folder);
  const ignored = frontmatter.unknownMembers.map((member) => ({
    path: SKILL_FILE,
    message: `has the member ${JSON.stringify(member.slice(0, 64))}, which is ignored`,
  }));
  return { frontmatter, files, warnings: [...tree.warnings, ...ignored] };
}

function textOf(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new SkillProblem(SKILL_FILE, 'must be UTF-8');
  }
}

/** Throws system errors, for example of a full disk: failures of this machine. All others come from the archive. */
export function resultOf(error: unknown): UnpackResult {
  if (error instanceof SkillProblem) return { kind: 'refused', path: error.path, message: error.message };
  if (error instanceof Error && 'syscall' in error) throw error;
  const reason = error instanceof Error ? error.message.slice(0, 200) : '';
  return { kind: 'refused', path: '', message: `is malformed: ${reason}` };
}
