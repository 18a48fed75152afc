import { Field, TextArea } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import type { FieldGroupProps } from './field-group.ts';
import { NETWORK_LABELS, SUPPORTED, selectableValues } from './labels.ts';

export function NetworkFields({ draft, saved, onChange, errorAt }: FieldGroupProps) {
  const about = NETWORK_LABELS.find(({ value }) => value === draft.networkMode)?.about;
  const hosts = errorAt('/network/allowed_hosts');
  const isLimited = draft.networkMode === 'limited';
  return (
    <>
      <Field label="Network" hint={about} error={errorAt('/network/mode') ?? (isLimited ? undefined : hosts)}>
        <Select
          label="Network"
          value={draft.networkMode}
          options={selectableValues(NETWORK_LABELS, SUPPORTED.networks, saved.networkMode)}
          onChange={(networkMode) => onChange({ networkMode })}
        />
      </Field>
      {isLimited && (
        <Field
          label="Allowed hosts"
          hint="One per line: a host name, or *. and a domain. Append :port for ports other than 80 and 443."
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
