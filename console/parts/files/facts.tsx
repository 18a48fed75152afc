import type { ReactNode } from 'react';
import type { FileEntry } from '../../gen/index.ts';
import { exactBytes, shownBytes } from '../../ui/bytes.ts';
import { Copyable } from '../../ui/code.tsx';
import { Time } from '../../ui/time.tsx';
import { Name } from './name.tsx';

/** What is known of an entry besides its name. */
export function Facts({
  entry: { kind, size, media_type: type, modified_at: at, sha256, target },
}: {
  entry: FileEntry;
}) {
  return (
    <dl className="flex flex-wrap gap-x-6 gap-y-1.5 text-[13px]">
      {kind === 'file' && (
        <Fact name="Size">
          <span title={exactBytes(size)}>{shownBytes(size)}</span>
        </Fact>
      )}
      {type && <Fact name="Type">{type}</Fact>}
      {target !== null && (
        <Fact name="Points to">
          <Name text={target} />
        </Fact>
      )}
      {at && (
        <Fact name="Modified">
          <Time at={at} />
        </Fact>
      )}
      {sha256 && (
        <Fact name="SHA-256">
          <Copyable text={sha256} label="Copy the SHA-256" />
        </Fact>
      )}
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex max-w-full min-w-0 items-center gap-1.5">
      <dt className="shrink-0 text-muted">{name}</dt>
      <dd className="min-w-0">{children}</dd>
    </div>
  );
}
