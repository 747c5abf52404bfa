import java.io.FileReader;
import java.util.Map;
import java.util.Properties;
import org.springframework.mail.SimpleMailMessage;
import org.springframework.mail.javamail.JavaMailSenderImpl;

/** Sends a code as Spring Boot's mail sender would, which binds these properties and variables to the same setters. */
public class SignUp {
    public static void main(String[] args) throws Exception {
        Properties settings = new Properties();
        try (FileReader file = new FileReader("application-" + System.getenv("SPRING_PROFILES_ACTIVE") + ".properties")) {
            settings.load(file);
        }
        for (String name : settings.stringPropertyNames()) {
            String value = System.getenv(name.toUpperCase().replace('.', '_').replace("-", ""));
            if (value != null) settings.setProperty(name, value);
        }
        JavaMailSenderImpl sender = new JavaMailSenderImpl();
        for (String name : settings.stringPropertyNames()) {
            String value = settings.getProperty(name);
            switch (name) {
                case "spring.mail.host" -> sender.setHost(value);
                case "spring.mail.port" -> sender.setPort(Integer.parseInt(value));
                case "spring.mail.username" -> sender.setUsername(value);
                case "spring.mail.password" -> sender.setPassword(value);
                default -> {
                    if (!name.startsWith("spring.mail.properties.")) throw new IllegalArgumentException(name);
                    sender.getJavaMailProperties().setProperty(name.substring("spring.mail.properties.".length()), value);
                }
            }
        }
        SimpleMailMessage mail = new SimpleMailMessage();
        mail.setFrom("shop@example.com");
        mail.setTo(args[0]);
        mail.setSubject("Confirm your address");
        mail.setText("Your confirmation code is " + args[1] + ".");
        sender.send(mail);
    }
}
