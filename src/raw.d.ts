/** A file as text, put in when the package is built. */
declare module '*?raw' {
  const text: string;
  export default text;
}
