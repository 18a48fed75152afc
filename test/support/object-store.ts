import type { TestProject } from 'vitest/node';
import { type CephServer, startCeph } from './ceph.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    objectStore: ObjectStore;
  }
}

/** The S3 server that the systems of a test run share. Each system uses its own bucket. */
interface ObjectStore {
  endpoint: string;
  accessKey: string;
  secretKey: string;
}

/** Every project of a run loads this file. They share one server, because it takes long to start. */
interface Shared {
  server: Promise<CephServer>;
  users: number;
}

declare global {
  var sharedObjectStore: Shared | undefined;
}

/** Starts one S3 server for the whole run. Returns the function that stops it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  globalThis.sharedObjectStore ??= { server: startCeph(), users: 0 };
  const shared = globalThis.sharedObjectStore;
  shared.users++;
  const { endpoint, user } = await shared.server;
  project.provide('objectStore', { endpoint, ...user });
  return async () => {
    if (--shared.users === 0) await (await shared.server).stop();
  };
}
