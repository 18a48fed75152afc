import { spawnSync } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
const NEEDED_BYTES = 3 * 1024 ** 3;

/**
 * The directory for databases and object stores of tests: in memory if the machine has enough of it. Tests about files and
 * directories use a disk instead.
 */
export function scratch(): string {
  return process.env.SERVICE_TEST_SCRATCH ?? tmpdir();
}

/** Creates the directory for the whole run. */
export default function setup(): () => void {
  const directory = inMemory() ?? mkdtempSync(join(tmpdir(), 'ahs-test-'));
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
  // Some containers mount it without permission to execute, which PostgreSQL's libraries need.
  const program = join(directory, 'program');
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 });
  if (spawnSync(program).status === 0) return directory;
  rmSync(directory, { recursive: true });
  return undefined;
}
