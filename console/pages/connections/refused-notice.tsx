/** Messages by error code. Other codes have the last one. */
const MESSAGES: Readonly<Record<string, string>> = {
  CONNECTION_REFUSED:
    'The connection was refused: access was denied, the attempt has ended or was used, or another user or browser began it. Connect again.',
  VAULT_SEALED:
    'The connection was not made, because the credentials cannot be opened now. Connect again later.',
};
const OTHER_MESSAGE = 'The connection was not made, because the service failed. Connect again later.';

/** Tells a user who comes back from an authorization server why there is no connection. */
export function RefusedNotice({ code }: { code: string }) {
  return (
    <p role="alert" className="mb-4 rounded-lg border border-warn bg-warn-soft px-3 py-2">
      {MESSAGES[code] ?? OTHER_MESSAGE}
    </p>
  );
}
