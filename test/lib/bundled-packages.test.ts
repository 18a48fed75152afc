import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BUNDLED_IMPORTS, bundleFile, bundleFolder } from '../../lib/bundled-packages.js';
import { scratch } from '../support/scratch.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FILE = 'lib/bundled-packages.js';
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
    write('package-lock.json', JSON.stringify({ [name]: version }));
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
    cpSync(join(ROOT, FILE), join(root, FILE));
    write('package.json', '{"type":"module"}');
    install('typebox', '1.0.0');
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('are loaded as they are without a bundle', () => {
    expect(load()).toBe('package 1.0.0');
  });

  it('are loaded from the bundle that belongs to package-lock.json', () => {
    const file = relative(root, join(bundleFolder(root), bundleFile('typebox')));
    write(file, `export const source = 'bundle';`);
    expect(load()).toBe('bundle');
    install('typebox', '1.0.1');
    expect(load()).toBe('package 1.0.1');
  });
});

/** Prints the names that an import of each URL returns, and those that `require` returns. */
const NAMES = `
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
const names = [];
for (const [specifier, url] of JSON.parse(process.argv[1])) {
  const imported = Object.keys(await import(url)).toSorted();
  const isCommon = imported.includes('module.exports');
  names.push([specifier, imported, isCommon ? Object.keys(require(url.startsWith('file:') ? new URL(url).pathname : url)).toSorted() : []]);
}
console.log(JSON.stringify(names));`;

describe('the bundles of this installation', () => {
  const namesIn = (urlOf: (specifier: string) => string): unknown => {
    const urls = BUNDLED_IMPORTS.map((specifier) => [specifier, urlOf(specifier)]);
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['--input-type=module', '--eval', NAMES, JSON.stringify(urls)],
      { cwd: ROOT, encoding: 'utf8' },
    );
    expect(stderr).toBe('');
    return JSON.parse(stdout);
  };

  it('have the exports of their packages, for import and require', () => {
    const folder = bundleFolder(ROOT);
    const inBundles = namesIn((specifier) => pathToFileURL(join(folder, bundleFile(specifier))).href);
    expect(inBundles).toEqual(namesIn((specifier) => specifier));
  });
});
