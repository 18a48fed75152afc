import { Field, TextArea } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import type { PartProps } from './part.ts';
import { choicesOf, NETWORKS, OFFERED } from './words.ts';

export function NetworkFields({ draft, kept, onChange, at }: PartProps) {
  const about = NETWORKS.find(({ value }) => value === draft.networkMode)?.about;
  const hosts = at('/network/allowed_hosts');
  const isLimited = draft.networkMode === 'limited';
  return (
    <>
      <Field label="Network" hint={about} error={at('/network/mode') ?? (isLimited ? undefined : hosts)}>
        <Select
          label="Network"
          value={draft.networkMode}
          options={choicesOf(NETWORKS, OFFERED.networks, kept.networkMode)}
          onChange={(networkMode) => onChange({ networkMode })}
        />
      </Field>
      {isLimited && (
        <Field
          label="Allowed hosts"
          hint="One on each line: a name, or *. and a domain; :port for other ports than 80 and 443."
          error={hosts}
        >
          <TextArea
            rows={4}
            dir="ltr"
            spellCheck={false}
            className="font-mono text-[13px]"
            placeholder={'packages.example.com\n*.example.com:8443'}
            value={draft.allowedHosts}
            onChange={(event) => onChange({ allowedHosts: event.target.value })}
          />
        </Field>
      )}
    </>
  );
}
