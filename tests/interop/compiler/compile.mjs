// The real compiler on texts in memory, as strict as it can be told to be.
import ts from 'typescript';

const options = {
    strict: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2023,
    lib: ['lib.es2023.d.ts'],
    types: [],
    module: ts.ModuleKind.ESNext,
    moduleDetection: ts.ModuleDetectionKind.Force,
};

/** What the compiler says against `files`, an object of names and texts: one `{ file, line, code, message }` a fault. */
export function faults(files) {
    const host = ts.createCompilerHost(options);
    const fromDisk = host.getSourceFile.bind(host);
    const known = new Map(Object.entries(files));
    host.getSourceFile = (name, version) =>
        known.has(name) ? ts.createSourceFile(name, known.get(name), version, true) : fromDisk(name, version);
    host.fileExists = (name) => known.has(name) || ts.sys.fileExists(name);
    host.readFile = (name) => known.get(name) ?? ts.sys.readFile(name);
    const program = ts.createProgram([...known.keys()], options, host);
    return ts.getPreEmitDiagnostics(program).map(({ file, start, code, messageText }) => ({
        file: file?.fileName,
        line: file ? file.getLineAndCharacterOfPosition(start).line : 0,
        code,
        message: ts.flattenDiagnosticMessageText(messageText, '\n'),
    }));
}

/** The tree of a program without what means nothing: comments, places, parentheses, empty statements. */
export function shape(text) {
    const source = ts.createSourceFile('program.js', text, ts.ScriptTarget.ESNext, true, ts.ScriptKind.JS);
    return JSON.stringify(of(source));

    function of(node) {
        if (ts.isParenthesizedExpression(node)) return of(node.expression);
        const parts = [];
        ts.forEachChild(node, (child) => {
            const nothing = ts.isEmptyStatement(child) || ts.isSemicolonClassElement(child);
            if (!nothing) parts.push(of(child));
        });
        const operator = node.operator ?? node.operatorToken?.kind;
        const flags = ts.isVariableDeclarationList(node) ? node.flags & ts.NodeFlags.BlockScoped : undefined;
        const word = node.kind <= ts.SyntaxKind.LastToken ? node.text ?? node.getText(source) : undefined;
        return [ts.SyntaxKind[node.kind], operator, flags, word, parts];
    }
}

/** A program, the body of an async function, without its types, as the compiler itself erases them. */
export function transpiled(program) {
    return ts.transpileModule(program, {
        compilerOptions: { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext },
    }).outputText;
}

/** Which of `programs` the compiler refuses for their words, whatever they mean. */
export function refused(programs) {
    const files = programs.map((program, at) => [`p${at}.ts`, `async () => {\n${program}\n}`]);
    const grammar = ({ code }) => (code >= 1000 && code < 2000) || [2357, 2364, 2777, 2779, 5076].includes(code);
    const found = new Set(faults(Object.fromEntries(files)).filter(grammar).map((fault) => fault.file));
    return files.map(([file]) => found.has(file));
}
