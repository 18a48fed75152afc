import { join } from 'node:path';
import type { Log } from '../log.ts';
import type { Blobs } from './blobs.ts';
import { openDirectory } from './directory.ts';

interface BlobsSettings {
  /** Default: bytes are stored in the data directory. */
  s3Endpoint?: string | undefined;
  s3Bucket: string;
  s3Region: string;
  s3AccessKey?: string | undefined;
  s3SecretKey?: string | undefined;
}

/**
 * Opens the store for the bytes of files: the S3 bucket when an endpoint is set, otherwise the data directory, which
 * this process uses alone. Throws BlobsProblem when the object store denies access.
 */
export async function openBlobs(
  settings: BlobsSettings,
  dataDir: string | undefined,
  log: Log,
): Promise<Blobs> {
  if (settings.s3Endpoint === undefined) {
    if (dataDir === undefined) throw new Error('neither an object store nor a data directory is configured');
    return openDirectory(join(dataDir, 'blobs'));
  }
  // The S3 client takes long to load, so only processes that use it load it.
  const { openS3 } = await import('./s3.ts');
  return openS3({
    endpoint: settings.s3Endpoint,
    bucket: settings.s3Bucket,
    region: settings.s3Region,
    accessKey: settings.s3AccessKey ?? '',
    secretKey: settings.s3SecretKey ?? '',
    onError: (error) => log.warn({ err: error }, 'the object store cannot be used yet'),
  });
}
