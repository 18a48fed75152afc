import { join } from 'node:path';
import type { Log } from '../log.ts';
import type { Blobs } from './blobs.ts';
import { openDirectory } from './directory.ts';

export interface BlobsSettings {
  /** Without one, bytes are kept in the data directory. */
  s3Endpoint?: string | undefined;
  s3Bucket: string;
  s3Region: string;
  s3AccessKey?: string | undefined;
  s3SecretKey?: string | undefined;
}

/**
 * Opens the place where the bytes of files are kept: S3 where it is set up, otherwise the data directory, which this
 * process holds alone. Throws BlobsProblem when S3 is there and refuses.
 */
export async function openBlobs(
  settings: BlobsSettings,
  dataDir: string | undefined,
  log: Log,
): Promise<Blobs> {
  if (settings.s3Endpoint === undefined) {
    if (dataDir === undefined) throw new Error('there is neither an object store nor a data directory');
    return openDirectory(join(dataDir, 'blobs'));
  }
  // Its driver is loaded only where it is needed, as that takes a while.
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
