import { Download, FileX } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { type SkillVersionRef, skills } from '../../api/skills.ts';
import type { SkillFile } from '../../gen/index.ts';
import { FileName } from '../../parts/files/file-name.tsx';
import { NoPreview } from '../../parts/files/preview/no-preview.tsx';
import { TextContent } from '../../parts/files/preview/text-content.tsx';
import { TextLink } from '../../parts/navigation/links.tsx';
import { Badge } from '../../ui/badge.tsx';
import { buttonClass } from '../../ui/button.tsx';
import { exactBytes, formatBytes } from '../../ui/bytes.ts';
import { Copyable } from '../../ui/code.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Card } from '../../ui/page.tsx';
import { skillText } from './skill-text.ts';

export interface FileViewProps {
  of: SkillVersionRef;
  path: string;
  /** Absent when the version has no file with this path. */
  file: SkillFile | undefined;
}

/** One file of a version with its text. */
export function FileView({ of, path, file }: FileViewProps) {
  const { skillId, version } = of;
  const heading = useRef<HTMLHeadingElement>(null);
  // The link to the file is gone, so its title is the next place to read.
  useEffect(() => heading.current?.focus(), []);
  return (
    <section aria-labelledby="skill-file" className="flex flex-col gap-3">
      <TextLink to="/skills/$skillId" params={{ skillId }} search={{ version }} className="self-start">
        All files
      </TextLink>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <h2
          ref={heading}
          id="skill-file"
          tabIndex={-1}
          className="min-w-0 flex-1 basis-48 font-semibold outline-none"
        >
          <FileName text={path} />
        </h2>
        {file && (
          <>
            {file.executable && <Badge>Executable</Badge>}
            <span title={exactBytes(file.size)} className="text-[13px] text-muted">
              {formatBytes(file.size)}
            </span>
            <a
              href={skills.contentUrl(of, path)}
              download={path.slice(path.lastIndexOf('/') + 1)}
              className={buttonClass('secondary', true)}
            >
              <Download aria-hidden />
              Download
            </a>
          </>
        )}
      </div>
      {file && (
        <div className="flex min-w-0 items-center gap-1.5 text-[13px] text-muted">
          <span className="shrink-0">SHA-256</span>
          <span className="min-w-0">
            <Copyable text={file.sha256} label="Copy SHA-256 of the file" />
          </span>
        </div>
      )}
      <Card className="min-w-0 overflow-hidden">
        {file === undefined ? (
          <EmptyState icon={<FileX />}>Version {version} has no file with this path.</EmptyState>
        ) : file.size === 0 ? (
          <NoPreview>This file is empty.</NoPreview>
        ) : (
          <TextContent options={skillText(of, file)} name={path} size={file.size} marksInvisible />
        )}
      </Card>
    </section>
  );
}
