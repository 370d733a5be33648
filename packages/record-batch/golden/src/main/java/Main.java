import java.nio.file.Path;

/** generate DIRECTORY: writes the golden data. read DIRECTORY: reads what the TypeScript side wrote there. */
public final class Main {
    private Main() {}

    public static void main(String[] args) throws Exception {
        Path directory = Path.of(args[1]);
        switch (args[0]) {
            case "generate" -> {
                GoldenBatches.write(directory);
                GoldenVerdicts.write(directory);
            }
            case "read" -> ReadBack.check(directory);
            default -> throw new IllegalArgumentException(args[0]);
        }
    }
}
