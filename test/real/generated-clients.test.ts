import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scratch } from '../support/scratch.ts';
import { type System, startSystem } from '../support/system.ts';
import { GENERATORS } from './clients/generate.ts';
import type { JourneyResult } from './clients/result.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const COMPILER_OPTIONS = {
  target: 'ES2024',
  lib: ['ESNext', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable'],
  module: 'ESNext',
  moduleResolution: 'Bundler',
  types: ['node'],
  strict: true,
  noUncheckedIndexedAccess: true,
  noImplicitReturns: true,
  skipLibCheck: true,
  noEmit: true,
  allowImportingTsExtensions: true,
};

let system: System;
let directory: string;

/** The errors of the TypeScript compiler for all files of a folder. */
const compile = (folder: string): Promise<string> =>
  new Promise((resolve) => {
    const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    execFile(process.execPath, [compiler, '-p', folder], (_, output) => resolve(output));
  });

beforeAll(async () => {
  system = await startSystem();
  directory = await mkdtemp(join(scratch(), 'ahs-clients-'));
  await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  await writeFile(join(directory, 'openapi.json'), await (await fetch(`${system.url}/openapi.json`)).text());
});

afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

describe('a client that is generated from /openapi.json', () => {
  it.each(Object.entries(GENERATORS))(
    'by %s compiles under strict types and completes a journey',
    async (name, generate) => {
      const folder = join(directory, name);
      await mkdir(folder);
      await generate(join(directory, 'openapi.json'), folder);
      for (const [source, target] of [
        [`${name}.ts`, 'journey.ts'],
        ['result.ts', 'result.ts'],
      ] as const)
        await copyFile(join(ROOT, 'test/real/clients', source), join(folder, target));
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: COMPILER_OPTIONS }));
      expect(await compile(folder)).toBe('');

      const { journey } = await import(join(folder, 'journey.ts'));
      const result: JourneyResult = await journey(system.url);
      expect(result).toEqual({
        answer: 'Hello!',
        pages: [1, 1],
        unknownAgent: ['AGENT_NOT_FOUND', 'client'],
        outdatedChange: [412, 'VERSION_CONFLICT'],
        newName: 'Renamed',
      });
    },
    120_000,
  );
});
