import { spawnSync } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
const NEEDED_BYTES = 3 * 1024 ** 3;

/**
 * Where tests lay out databases and stores of objects that nobody looks at as files: in memory, when this machine
 * has enough of it. What is about files and directories themselves belongs on a disk.
 */
export function scratch(): string {
  return process.env.SERVICE_TEST_SCRATCH ?? tmpdir();
}

/** Chooses it for the whole run. */
export default function setup(): (() => void) | undefined {
  const directory = inMemory();
  if (directory === undefined) return undefined;
  process.env.SERVICE_TEST_SCRATCH = directory;
  return () => rmSync(directory, { recursive: true, force: true });
}

function inMemory(): string | undefined {
  try {
    accessSync(MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY);
    if (Math.min(bavail * bsize, freemem()) < NEEDED_BYTES) return undefined;
  } catch {
    return undefined;
  }
  const directory = mkdtempSync(join(MEMORY, 'ahs-test-'));
  // Containers let nobody run programs from there, which PostgreSQL's libraries are as well.
  const program = join(directory, 'program');
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 });
  if (spawnSync(program).status === 0) return directory;
  rmSync(directory, { recursive: true });
  return undefined;
}
