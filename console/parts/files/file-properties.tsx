import type { ReactNode } from 'react';
import type { FileEntry } from '../../gen/index.ts';
import { exactBytes, formatBytes } from '../../ui/bytes.ts';
import { Copyable } from '../../ui/code.tsx';
import { Time } from '../../ui/time.tsx';
import { FileName } from './file-name.tsx';

/** Metadata of an entry except its name. */
export function FileProperties({
  entry: { kind, size, media_type: type, modified_at: at, sha256, target },
}: {
  entry: FileEntry;
}) {
  return (
    <dl className="flex flex-wrap gap-x-6 gap-y-1.5 text-[13px]">
      {kind === 'file' && (
        <Property name="Size">
          <span title={exactBytes(size)}>{formatBytes(size)}</span>
        </Property>
      )}
      {type && <Property name="Type">{type}</Property>}
      {target !== null && (
        <Property name="Points to">
          <FileName text={target} />
        </Property>
      )}
      {at && (
        <Property name="Modified">
          <Time at={at} />
        </Property>
      )}
      {sha256 && (
        <Property name="SHA-256">
          <Copyable text={sha256} label="Copy SHA-256" />
        </Property>
      )}
    </dl>
  );
}

function Property({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex max-w-full min-w-0 items-center gap-1.5">
      <dt className="shrink-0 text-muted">{name}</dt>
      <dd className="min-w-0">{children}</dd>
    </div>
  );
}
