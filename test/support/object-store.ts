import type { TestProject } from 'vitest/node';
import { startS3, type TestS3 } from './s3.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    objectStore: ObjectStore;
  }
}

/** Where the systems of a run keep the bytes of files, each in a bucket of its own. */
export interface ObjectStore {
  endpoint: string;
  accessKey: string;
  secretKey: string;
}

/** It takes a while to start, so all projects of a run share one, though each of them loads this file. */
interface Shared {
  server: Promise<TestS3>;
  users: number;
}

declare global {
  var sharedObjectStore: Shared | undefined;
}

/** One S3 server for the whole run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  globalThis.sharedObjectStore ??= { server: startS3(), users: 0 };
  const shared = globalThis.sharedObjectStore;
  shared.users++;
  const { endpoint, user } = await shared.server;
  project.provide('objectStore', { endpoint, ...user });
  return async () => {
    if (--shared.users === 0) await (await shared.server).stop();
  };
}
