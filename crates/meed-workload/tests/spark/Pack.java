import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import net.jpountz.lz4.LZ4BlockOutputStream;

/** Compresses lines of an event log as Spark does: by its libraries, a frame of zstd for each flush. */
final class Pack {
    public static void main(String[] args) throws Exception {
        Path to = Path.of(args[1]);
        try (OutputStream file = Files.newOutputStream(to); OutputStream out = packed(to, file)) {
            for (String line : Files.readAllLines(Path.of(args[0]))) {
                out.write((line + "\n").getBytes("UTF-8"));
                if (line.matches("\\{\"Event\":\"SparkListener(Stage|Job|Application|Executor).*")) {
                    out.flush();
                }
            }
        }
    }

    private static OutputStream packed(Path to, OutputStream file) throws Exception {
        if (to.toString().endsWith(".lz4")) {
            return new LZ4BlockOutputStream(file, 1 << 12);
        }
        return new ZstdOutputStreamNoFinalizer(file, 1).setCloseFrameOnFlush(true);
    }
}
