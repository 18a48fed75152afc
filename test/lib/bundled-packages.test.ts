import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { scratch } from '../support/scratch.ts';

const FILE = 'lib/bundled-packages.js';
const BUNDLES = 'node_modules/.cache/agent-hosting-service-packages';
/** Prints what an import of the package returns. */
const PROGRAM = `
import { useBundledPackages } from './${FILE}';
useBundledPackages();
const { source } = await import('typebox');
console.log(source);`;

describe('bundled packages', () => {
  let root: string;
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const install = (name: string, version: string) => {
    write(`node_modules/${name}/package.json`, JSON.stringify({ version, type: 'module', main: 'index.js' }));
    write(`node_modules/${name}/index.js`, `export const source = 'package ${version}';`);
  };
  const load = () => {
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
      cwd: root,
      encoding: 'utf8',
    });
    return stdout.trim() || stderr;
  };

  beforeEach(() => {
    root = mkdtempSync(join(scratch(), 'ahs-test-bundles-'));
    cpSync(join(import.meta.dirname, '../..', FILE), join(root, FILE));
    write('package.json', '{"type":"module"}');
    install('typebox', '1.0.0');
    install('@redis/client', '1.0.0');
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('are loaded as they are without a bundle', () => {
    expect(load()).toBe('package 1.0.0');
  });

  it('are loaded from the bundle of their installed version', () => {
    write(`${BUNDLES}/typebox-1.0.0/index.mjs`, `export const source = 'bundle';`);
    expect(load()).toBe('bundle');
    install('typebox', '1.0.1');
    expect(load()).toBe('package 1.0.1');
  });
});
