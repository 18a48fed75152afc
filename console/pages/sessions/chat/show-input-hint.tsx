/** Explains why a call cannot be allowed yet. */
export function ShowInputHint({ id }: { id: string }) {
  return (
    <p id={id} className="text-[13px] text-warn">
      Show the whole input before you allow the call.
    </p>
  );
}
