import { connectTools, javaTools, kcatTool, missing, pythonTools } from './toolchain.ts'

/** A program: makes what the tests need of other languages, once, before test files that run side by side ask for it. */
for (const tool of [javaTools, connectTools, pythonTools, kcatTool]) await missing(tool)
