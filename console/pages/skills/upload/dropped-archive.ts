/** Returns the one dropped file, or a sentence that says why there is none. Must be called during the drop event. */
export function droppedArchive({ items }: DataTransfer): File | string {
  const [only, ...others] = Array.from(items).filter(({ kind }) => kind === 'file');
  if (only === undefined || others.length > 0) return 'Drop one archive.';
  if (only.webkitGetAsEntry()?.isDirectory) return 'Drop an archive of the directory, not the directory.';
  return only.getAsFile() ?? 'The browser cannot read the file. Select it again.';
}
