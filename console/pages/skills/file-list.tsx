import type { SkillVersionRef } from '../../api/skills.ts';
import type { SkillFile } from '../../gen/index.ts';
import { FileName } from '../../parts/files/file-name.tsx';
import { TextLink } from '../../parts/navigation/links.tsx';
import { type Column, LongList } from '../../parts/resources/long-list.tsx';
import { Badge } from '../../ui/badge.tsx';
import { exactBytes, formatBytes } from '../../ui/bytes.ts';
import { Card } from '../../ui/page.tsx';

/** The files of a version. */
export function FileList({ of, files }: { of: SkillVersionRef; files: SkillFile[] }) {
  return (
    <section aria-labelledby="skill-files">
      <h2 id="skill-files" className="mb-2 font-semibold">
        Files
      </h2>
      <Card>
        <LongList
          label="Files of the skill"
          items={files}
          keyOf={({ path }) => path}
          columns={columnsOf(of)}
          card={(file) => (
            <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
              <FileLink of={of} file={file} />
              <Size file={file} />
              <Mode file={file} />
            </div>
          )}
        />
      </Card>
    </section>
  );
}

const columnsOf = (of: SkillVersionRef): Column<SkillFile>[] => [
  { name: 'Path', cell: (file) => <FileLink of={of} file={file} /> },
  { name: 'Size', className: 'w-32', cell: (file) => <Size file={file} /> },
  { name: 'Mode', className: 'w-36', cell: (file) => <Mode file={file} /> },
];

interface FileProps {
  file: SkillFile;
}

function FileLink({ of: { skillId, version }, file: { path } }: FileProps & { of: SkillVersionRef }) {
  return (
    <TextLink to="/skills/$skillId" params={{ skillId }} search={{ version, path }} className="min-w-0">
      <FileName text={path} />
    </TextLink>
  );
}

function Size({ file: { size } }: FileProps) {
  return (
    <span title={exactBytes(size)} className="text-muted tabular-nums">
      {formatBytes(size)}
    </span>
  );
}

const Mode = ({ file: { executable } }: FileProps) => (executable ? <Badge>Executable</Badge> : null);
