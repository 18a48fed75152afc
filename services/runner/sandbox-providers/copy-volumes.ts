import type { CopySpace } from './space/space-limits.ts';

/** Volumes that no command waits for are created when the processors have nothing else to do. */
export type VolumePriority = 'normal' | 'low';

/** Creates file systems that each hold one workspace copy, and so limit it. */
export interface CopyVolumes {
  /** Returns the path by which this process reaches an absolute path. Other programs see volumes in the namespace only. */
  pathOf(path: string): string;
  /** Creates a volume with at least this space and mounts it. `image` must not exist, and `mountPoint` must. */
  create(image: string, mountPoint: string, space: CopySpace, priority?: VolumePriority): Promise<void>;
  /** Deletes the files of a volume and unmounts it. The caller deletes the image. */
  remove(mountPoint: string): Promise<void>;
  /** Returns the bytes that a volume uses on the disk. */
  usedBytes(image: string): number;
}
