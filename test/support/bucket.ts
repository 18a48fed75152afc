import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';

/** Settings for a system that stores the bytes of files in a new bucket of the shared object store. */
export function bucketSettings(): Record<string, string> {
  const { endpoint, accessKey, secretKey } = inject('objectStore');
  return {
    SERVICE_S3_ENDPOINT: endpoint,
    SERVICE_S3_ACCESS_KEY: accessKey,
    SERVICE_S3_SECRET_KEY: secretKey,
    SERVICE_S3_BUCKET: `test-${randomBytes(8).toString('hex')}`,
  };
}
