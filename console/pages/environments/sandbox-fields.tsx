import { NumberField } from '../../parts/editor/number-field.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import type { PartProps } from './part.ts';
import { choicesOf, OFFERED, PROVIDERS } from './words.ts';

export function SandboxFields({ draft, kept, onChange, at }: PartProps) {
  const about = PROVIDERS.find(({ value }) => value === draft.provider)?.about;
  return (
    <>
      <Field label="Provider" hint={about} error={at('/sandbox/provider')}>
        <Select
          label="Provider"
          value={draft.provider}
          options={choicesOf(PROVIDERS, OFFERED.providers, kept.provider)}
          onChange={(provider) => onChange({ provider })}
        />
      </Field>
      {(OFFERED.images || kept.image !== '') && (
        <Field
          label="Image"
          optional
          hint="The container image it starts from, for providers that have images."
          error={at('/sandbox/image')}
        >
          <Input
            value={draft.image}
            spellCheck={false}
            className="font-mono text-[13px]"
            onChange={(event) => onChange({ image: event.target.value })}
          />
        </Field>
      )}
      <div className="grid gap-4 sm:grid-cols-2">
        <NumberField
          label="Processor"
          hint="Thousandths of one."
          optional
          placeholder="The provider's"
          value={draft.cpuMillis}
          onChange={(cpuMillis) => onChange({ cpuMillis })}
          error={at('/sandbox/cpu_millis')}
        />
        <NumberField
          label="Memory"
          hint="MiB"
          optional
          placeholder="The provider's"
          value={draft.memoryMib}
          onChange={(memoryMib) => onChange({ memoryMib })}
          error={at('/sandbox/memory_mib')}
        />
        <NumberField
          label="Processes"
          hint="At the same time."
          optional
          placeholder="The provider's"
          value={draft.pids}
          onChange={(pids) => onChange({ pids })}
          error={at('/sandbox/pids')}
        />
        <NumberField
          label="Temporary files"
          hint="MiB"
          optional
          placeholder="The provider's"
          value={draft.diskMib}
          onChange={(diskMib) => onChange({ diskMib })}
          error={at('/sandbox/disk_mib')}
        />
        <NumberField
          label="Longest command"
          hint="Seconds, at most a day."
          value={draft.commandTimeout}
          onChange={(commandTimeout) => onChange({ commandTimeout })}
          error={at('/sandbox/command_timeout_seconds')}
        />
      </div>
    </>
  );
}
